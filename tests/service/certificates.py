"""Certificates for tests: an authority and what it signs, as PEM files."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates for localhost and 127.0.0.1."""

    def __init__(self, folder: Path, name: str, valid: datetime.timedelta = DAY) -> None:
        self._folder, self._name = folder, x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name}.pem"
        builder = self._builder(self._name, self._key, valid).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._write(self.file, builder.sign(self._key, hashes.SHA256()))

    def issue(self, name: str, valid: datetime.timedelta = DAY) -> tuple[Path, Path]:
        """Certificate and key; valid for so long from now on, a negative time has ended so long ago."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = self._builder(subject, key, valid).add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate, file = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        self._write(certificate, builder.sign(self._key, hashes.SHA256()))
        file.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                           serialization.NoEncryption()))
        return certificate, file

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey,
                 valid: datetime.timedelta) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
                .serial_number(x509.random_serial_number()).not_valid_before(now - 30 * DAY)
                .not_valid_after(now + valid))

    @staticmethod
    def _write(path: Path, certificate: x509.Certificate) -> None:
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
