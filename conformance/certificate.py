"""A certificate for localhost that signs itself; no authority, or rustls would not take it for a server's."""

import pathlib
import subprocess


def make(folder):
    """Its path and its key's, as text, in a folder that is there."""
    certificate, key = (str(pathlib.Path(folder) / name) for name in ("certificate.pem", "key.pem"))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    command += " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=CA:FALSE"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
