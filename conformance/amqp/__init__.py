"""AMQP 1.0, as foreign clients and raw bytes see the gateway."""
