"""Certificates: one for localhost that signs itself, which is no authority or rustls would not take it for a server's;
and authorities with what they sign."""

import hashlib
import pathlib
import ssl
import subprocess


def make(folder):
    """Its path and its key's, as text, in a folder that is there."""
    certificate, key = (str(pathlib.Path(folder) / name) for name in ("certificate.pem", "key.pem"))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    command += " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=CA:FALSE"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


NEW = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"


def openssl(command):
    subprocess.run(["openssl", *command.split()], check=True, capture_output=True)


def authority(folder, name="ca"):
    """Makes `NAME.pem` and `NAME.key`; gives the certificate's path."""
    openssl(f"req -x509 {NEW} -subj /CN={name} -keyout {folder}/{name}.key -out {folder}/{name}.pem")
    return f"{folder}/{name}.pem"


def signed(folder, name, extensions, by="ca"):
    """Makes `NAME.pem` and `NAME.key`, signed by an authority of the same folder; gives their paths."""
    file = pathlib.Path(folder) / f"{name}.ext"
    file.write_text(f"basicConstraints=CA:FALSE\n{extensions}\n")
    openssl(f"req {NEW} -subj /CN={name} -keyout {folder}/{name}.key -out {folder}/{name}.csr")
    openssl(f"x509 -req -in {folder}/{name}.csr -CA {folder}/{by}.pem -CAkey {folder}/{by}.key "
            f"-CAcreateserial -days 2 -extfile {file} -out {folder}/{name}.pem")
    return f"{folder}/{name}.pem", f"{folder}/{name}.key"


def signed_client(folder, name):
    return signed(folder, name, "extendedKeyUsage=clientAuth")


def entry(folder, name, role):
    """What a policy says of a certificate."""
    der = ssl.PEM_cert_to_DER_cert((pathlib.Path(folder) / f"{name}.pem").read_text())
    return f'[certificate.{name}]\nsha256 = "{hashlib.sha256(der).hexdigest()}"\nrole = "{role}"\n'
