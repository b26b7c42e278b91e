"""The proxies of the documentation in front of a collector, as processes of their own."""

import contextlib
import datetime
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from processes import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "films.example"
NGINX_UNDER_FILMS = {
    "location / {": "location /films/ {",
    "proxy_pass http://collector;": "proxy_pass http://collector/;",
}
CADDY_UNDER_FILMS = {
    "\treverse_proxy 127.0.0.1:8000 {": "\tredir /films /films/\n"
    "\thandle_path /films/* {\n\t\treverse_proxy 127.0.0.1:8000 {",
    "header_up -Referer\n\t}\n": "header_up -Referer\n\t\t}\n\t}\n",
}


class ProxyProcess:
    """nginx or Caddy with the documented file, but for its addresses and paths.

    `tls`, `plain`: ports on 127.0.0.1, with the certificate of a moment and without. `folder`: has
    everything that the proxy writes. `under_films`: with the documented changes by which the
    collector lies under /films/.
    """

    def __init__(self, kind: str, folder: Path, upstream: int, under_films: bool = False):
        self.folder, self._under_films = folder, under_films
        self.tls, self.plain = free_port(), free_port()
        folder.mkdir()
        _certify(folder)
        command = {"nginx": self._nginx, "caddy": self._caddy}[kind](upstream)
        home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        with (folder / "output").open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=output, env=os.environ | home, cwd=folder
            )
        for _ in range(600):
            with contextlib.suppress(OSError):
                self.connect("127.0.0.9").close()
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.stop()
        raise AssertionError((folder / "output").read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def connect(self, source: str, tls: bool = False) -> socket.socket:
        """A connection from an address of this machine."""
        port = self.tls if tls else self.plain
        made = socket.create_connection(("127.0.0.1", port), 20, source_address=(source, 0))
        if not tls:
            return made
        trusting = ssl.create_default_context(cafile=self.folder / "fullchain.pem")
        return trusting.wrap_socket(made, server_hostname=NAME)

    def request(self, source, method, path, body=None, headers=None, tls=False):
        """The status and the body of an answer, on a connection of its own."""
        connection = http.client.HTTPConnection(NAME)
        connection.sock = self.connect(source, tls)
        with contextlib.closing(connection):
            chunked = body is not None and not isinstance(body, bytes)
            connection.request(method, path, body, headers or {}, encode_chunked=chunked)
            response = connection.getresponse()
            return response.status, response.read()

    def written(self) -> bytes:
        """Every log and every other file that it has written so far."""
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())

    def _nginx(self, upstream: int) -> list[str]:
        changes = {
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.tls} ssl; listen 127.0.0.1:{self.plain};",
            "127.0.0.1:8000;": f"127.0.0.1:{upstream};",
            "/etc/ssl/films.example/": f"{self.folder}/",
            "/var/log/nginx/": f"{self.folder}/",
            **(NGINX_UNDER_FILMS if self._under_films else {}),
        }
        file = self._configured("nginx.conf", changes)
        run = f"daemon off; pid {self.folder}/pid;"
        return [_found("nginx"), "-c", str(file), "-e", f"{self.folder}/start", "-g", run]

    def _caddy(self, upstream: int) -> list[str]:
        changes = {
            "\tadmin off\n": "\tadmin off\n\tauto_https off\n",
            **(CADDY_UNDER_FILMS if self._under_films else {}),
            "127.0.0.1:8000 ": f"127.0.0.1:{upstream} ",
        }
        file = self._configured("Caddyfile", changes)
        settings, begin, site = file.read_text().partition(f"\n{NAME} {{\n")
        assert begin, "the site has another name"
        site = f"\tbind 127.0.0.1\n{site}"
        certificate = f"\ttls {self.folder}/fullchain.pem {self.folder}/privkey.pem\n"
        first = f"https://{NAME}:{self.tls} {{\n{certificate}{site}\n"
        file.write_text(f"{settings}\n{first}http://{NAME}:{self.plain} {{\n{site}")
        return [_found("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]

    def _configured(self, name: str, changes: dict[str, str]) -> Path:
        text = (DEPLOY / name).read_text()
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        file = self.folder / name
        file.write_text(text)
        return file


def _found(program: str) -> str:
    found = shutil.which(program) or shutil.which(f"/usr/sbin/{program}")
    assert found, f"{program} is needed; install it"
    return found


def _certify(folder: Path) -> None:
    """A certificate for a day, signed by itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    day = datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "fullchain.pem").write_bytes(made.public_bytes(pem))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
