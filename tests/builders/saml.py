"""A SAML identity provider in the test's own process: metadata in a file, and answers signed by a throwaway key."""

import base64
import datetime
import re
import zlib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from lxml import etree
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils

from config.providers import Saml
from tests.builders import oidc

ENTITY, AT = "https://idp.example.org/idp", "https://idp.example.org"
HERE = "http://testserver/login/provider/uni"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
METADATA = f"""<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{ENTITY}">
<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>
<ds:X509Certificate>CERTIFICATE</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="{AT}/slo"/>
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="{AT}/sso"/>
</md:IDPSSODescriptor></md:EntityDescriptor>"""
ANSWER = """<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_answer" Version="2.0" IssueInstant="{now}"
Destination="{here}/answer/" InResponseTo="{asked}"><saml:Issuer>{issuer}</saml:Issuer>
<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>
<saml:Assertion ID="_assertion" Version="2.0" IssueInstant="{now}"><saml:Issuer>{issuer}</saml:Issuer>
<saml:Subject><saml:NameID Format="{format}">{name}</saml:NameID>
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">
<saml:SubjectConfirmationData NotOnOrAfter="{end}" Recipient="{here}/answer/" {confirmed}/></saml:SubjectConfirmation>
</saml:Subject>
<saml:Conditions NotBefore="{start}" NotOnOrAfter="{end}">{audience}</saml:Conditions>
<saml:AuthnStatement AuthnInstant="{now}" SessionIndex="_session"><saml:AuthnContext><saml:AuthnContextClassRef>
urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
<saml:AttributeStatement>{attributes}</saml:AttributeStatement></saml:Assertion></samlp:Response>"""
REQUEST = """<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_out" Version="2.0" IssueInstant="{now}"
Destination="{here}/logout/"><saml:Issuer>{issuer}</saml:Issuer>
<saml:NameID Format="{format}">{name}</saml:NameID></samlp:LogoutRequest>"""


def key_pair() -> tuple[str, str]:
    """A new key and its certificate, in PEM."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now.replace(year=2100)
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    certificate = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return key.private_bytes(*form).decode(), certificate.decode()


def instant(minutes: float) -> str:
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=minutes)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class IdentityProvider:
    def __init__(self, folder: Path):
        self.folder = folder
        self.key, self.certificate = key_pair()
        self.metadata = folder / "idp.xml"
        self.metadata.write_text(METADATA.replace("CERTIFICATE", Utils.format_cert(self.certificate, heads=False)))

    def configured(self, *, signing: bool = False, **more: object) -> dict[str, Saml]:
        """The settings with which Winnow uses it; with `signing`, Winnow has a key too."""
        given = {"slug": "uni", "label": "Uni", "metadata": self.metadata.as_uri(), "entity_id": ENTITY,
                 "roles": {"lab": "staff"}, "groups": "groups", "username": "uid", "email": "mail"}  # fmt: skip
        if signing:
            for name, text in zip(("key_file", "certificate_file"), key_pair(), strict=True):
                (self.folder / name).write_text(text)
                given[name] = str(self.folder / name)
        found = Saml(**{**given, **more})
        return {found.slug: found}

    def answer(
        self, asked: str, *, attributes: dict[str, str] | None = None, signed: tuple[str, str] | None = None,
        encrypted: str = "", audience: str | None = f"{HERE}/metadata/", end: float = 5, **more: str,
    ) -> str:  # fmt: skip
        """The answer in base64; `signed` are another key and certificate, or () for none. `encrypted` is the
        certificate of those who alone can read its assertion."""
        given = {"uid": "Ana", "mail": "ana@example.org", "groups": "lab"} if attributes is None else attributes
        value = '<saml:Attribute Name="{}"><saml:AttributeValue>{}</saml:AttributeValue></saml:Attribute>'
        limit = f"<saml:AudienceRestriction><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction>"
        values = {
            "now": instant(0), "start": instant(-20), "end": instant(end), "issuer": ENTITY, "here": HERE,
            "asked": asked, "confirmed": f'InResponseTo="{asked}"', "format": PERSISTENT, "name": "sub-1",
            "audience": limit if audience else "", "attributes": "".join(value.format(*pair) for pair in given.items()),
        } | more  # fmt: skip
        text = ANSWER.format(**values).encode()
        if signed != ():
            text = self._signed_assertion(text, *(signed or (self.key, self.certificate)))
        return base64.b64encode(encrypted_for(encrypted, text) if encrypted else text).decode()

    def _signed_assertion(self, text: bytes, key: str, certificate: str) -> bytes:
        """The signature is on the assertion alone, as many identity providers do."""
        [assertion] = re.findall(rb"<saml:Assertion.*</saml:Assertion>", text, re.S)
        space = b'<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" '
        alone = assertion.replace(b"<saml:Assertion ", space, 1)
        return text.replace(assertion, Utils.add_sign(alone, key, certificate))

    def logout_request(self, name: str, *, signed: bool = True) -> str:
        """The address at which it asks Winnow to log somebody out."""
        text = REQUEST.format(now=instant(0), here=HERE, issuer=ENTITY, format=PERSISTENT, name=name)
        given = {"SAMLRequest": Utils.deflate_and_base64_encode(text)}
        method = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
        query = f"SAMLRequest={Utils.escape_url(given['SAMLRequest'])}&SigAlg={Utils.escape_url(method)}"
        if signed:
            found = Utils.sign_binary(query, self.key, algorithm=xmlsec.Transform.RSA_SHA256)
            query += f"&Signature={Utils.escape_url(base64.b64encode(found).decode())}"
        return f"{HERE}/logout/?{query}"


def encrypted_for(certificate: str, answer: bytes) -> bytes:
    root = etree.fromstring(answer)
    [assertion] = root.iter("{*}Assertion")
    data = xmlsec.template.encrypted_data_create(
        assertion, xmlsec.Transform.AES256, type=xmlsec.EncryptionType.ELEMENT, ns="xenc"
    )
    xmlsec.template.encrypted_data_ensure_cipher_value(data)
    info = xmlsec.template.encrypted_data_ensure_key_info(data, ns="ds")
    key = xmlsec.template.add_encrypted_key(info, xmlsec.Transform.RSA_OAEP)
    xmlsec.template.encrypted_data_ensure_cipher_value(key)
    manager = xmlsec.KeysManager()
    manager.add_key(xmlsec.Key.from_memory(certificate, xmlsec.KeyFormat.CERT_PEM))
    context = xmlsec.EncryptionContext(manager)
    context.key = xmlsec.Key.generate(xmlsec.KeyData.AES, 256, xmlsec.KeyDataType.SESSION)
    outside = etree.SubElement(root, "{urn:oasis:names:tc:SAML:2.0:assertion}EncryptedAssertion")
    outside.append(context.encrypt_xml(data, assertion))
    return etree.tostring(root)


def asked(address: str) -> str:
    """The XML of the request in an address."""
    [found] = parse_qs(urlsplit(address).query)["SAMLRequest"]
    return zlib.decompress(base64.b64decode(found), -15).decode()


def begin(client: Client) -> str:
    """Begin a login; the ID of the request."""
    address = oidc.provider_address(client.post(reverse("provider-login", args=["uni"])))
    assert address.startswith(f"{AT}/sso?")
    return re.search(r'\sID="([^"]+)"', asked(address))[1]


def send(client: Client, answer: str) -> HttpResponse:
    """Winnow's answer to what the provider sends by way of the browser: without cookies, then by GET with them."""
    kept = type(client)().post(reverse("saml_acs", args=["uni"]), {"SAMLResponse": answer})
    assert kept.status_code == 302
    client.cookies["saml-acs-session"] = kept.cookies["saml-acs-session"].value
    return client.get(kept.url)
