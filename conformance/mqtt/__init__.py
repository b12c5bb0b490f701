"""MQTT 3.1.1 and 5.0, as foreign clients and raw bytes see the gateway."""
