"""Several gateways on one stream of NATS JetStream, as real processes: what one takes all have."""
