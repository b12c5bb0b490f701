"""XMPP behind a real Prosody, as foreign clients, weir's own, and raw bytes see the gateway."""
