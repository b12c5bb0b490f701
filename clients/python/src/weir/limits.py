"""Every bound of the client, in one place."""

# A message longer than this ends the connection that brings it: bytes.
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
# Messages of a WebSocket held back until their cursor comes; the gateway sends one behind each batch.
BATCH_MESSAGES_MAX = 10_000
# Rows that a page of history may have: the gateway's own limit.
HISTORY_PAGE = 10_000
# How long a long poll may stay open, in seconds.
WAIT_S = 30
# The gateway sends something every 15 s; after this silence nobody is there, in seconds.
SILENCE_S = 45
# How long a connection may take to be accepted, in seconds.
CONNECT_S = 10
# First and longest pause before another attempt, in seconds; each is drawn at random below.
RETRY_FIRST_S = 0.5
RETRY_MAX_S = 15.0
# How often a request is made until its failure is the caller's.
ATTEMPTS_MAX = 5
# Characters of a refusal that are kept.
REFUSAL_CHARACTERS_MAX = 500
