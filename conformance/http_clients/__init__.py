"""HTTP and WebSocket, as foreign clients see them."""
