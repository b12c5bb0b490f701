"""What operators run beside a gateway: collectors of traces, Grafana, authorities of certificates, `weir doctor`."""
