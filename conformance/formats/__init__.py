"""Formats that other people's libraries read and write: `weir convert` on our side, theirs on theirs."""
