"""Login through a SAML 2.0 identity provider: allauth's flow and settings, with python3-saml's checks and a few more.

An answer must be signed by a key in the metadata, about this Winnow (audience, recipient), unexpired, and for a login
that began in this browser, once (InResponseTo): an unsolicited answer does not log anybody in.
"""

from pathlib import Path
from typing import Any

from allauth.core.internal.httpkit import deserialize_request
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from allauth.socialaccount.providers.saml.utils import build_saml_config, prepare_django_request
from allauth.socialaccount.sessions import LoginSession
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from onelogin.saml2.auth import OneLogin_Saml2_Auth as Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest
from onelogin.saml2.response import OneLogin_Saml2_Response as Response
from onelogin.saml2.settings import OneLogin_Saml2_Settings as Settings
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils
from requests import RequestException

from benchmarks.accounts.provider import Person, ask

# SAML V2.0 Subject Identifier Attributes Profile
SUBJECTS = ("urn:oasis:names:tc:SAML:attribute:subject-id", "urn:oasis:names:tc:SAML:attribute:pairwise-id")


class Provider(Person, SAMLProvider):
    def app_fields(self) -> dict[str, Any]:
        given = self.given
        advanced: dict[str, Any] = {"allow_single_label_domains": True, "want_attribute_statement": False}
        if given.key_file:
            advanced |= dict.fromkeys(("authn_request_signed", "logout_request_signed", "logout_response_signed"), True)
            advanced |= {"private_key": _read(given.key_file), "x509cert": _read(given.certificate_file)}
        idp = {"entity_id": given.entity_id, "metadata_url": given.metadata, "metadata_request_timeout": 5}
        if given.metadata.startswith("file:"):
            idp["metadata_cache_timeout"] = 0
        return {"client_id": given.slug, "settings": {"idp": idp, "advanced": advanced}}

    def _settings(self, request: HttpRequest, **advanced: bool) -> Settings:
        """Return the settings. Raises RequestException for missing metadata, ProviderException for invalid."""
        given = {**self.app.settings, "advanced": {**self.app.settings["advanced"], **advanced}}
        try:
            return ask(lambda: Settings(build_saml_config(request, given, self.id)))
        except (RequestException, OSError) as error:
            raise RequestException(f"{self.given.metadata} cannot be read: {error}") from error
        except Exception as error:
            what = f"{self.given.metadata} has no valid description of {self.given.entity_id}"
            raise ProviderException(f"{what}: {type(error).__name__}: {error}") from error

    def check(self) -> None:
        """Raise what `_settings` raises; ProviderException also for a bad key."""
        request = HttpRequest()
        request.META = {"SERVER_NAME": "localhost", "SERVER_PORT": "443"}
        request.get_host = lambda: "localhost"  # type: ignore[method-assign]
        settings = self._settings(request)
        if self.given.key_file:
            try:
                Utils.sign_binary(b"x", settings.get_sp_key())
            except Exception as error:
                raise ProviderException(f"key_file does not contain a private key in PEM: {error}") from error

    def begin(self, request: HttpRequest, *, process: str, next_url: str) -> str:
        """Return the provider's address. `process` is "login", or "connect" for an account that is logged in."""
        auth = Auth(prepare_django_request(request), self._settings(request))
        address = auth.login(return_to="")
        self.stash_redirect_state(request, process, next_url, state_id=auth.get_last_request_id())
        return address

    def finish(self, request: HttpRequest) -> HttpResponse:
        """Take the answer kept by allauth's view. Raises PermissionDenied if this browser awaits none."""
        kept = LoginSession(request, "saml_acs_session", "saml-acs-session")
        posted = kept.store.get("request")
        kept.delete()
        if not posted:
            raise PermissionDenied
        answer = self._answer(deserialize_request(posted, HttpRequest()))
        login = self.sociallogin_from_response(request, self._claims(answer))
        login.state = self.unstash_redirect_state(request, answer.get_in_response_to())
        login.logout = {
            "name_id": answer.get_nameid(), "index": answer.get_session_index(),
            "format": answer.get_nameid_format(), "nq": answer.get_nameid_nq(), "spnq": answer.get_nameid_spnq(),
        }  # fmt: skip
        return complete_social_login(request, login)

    def _answer(self, posted: HttpRequest) -> Response:
        """Return the answer, after all checks except that of the browser. Raises ProviderException."""
        settings = self._settings(posted)
        try:
            answer = Response(settings, posted.POST["SAMLResponse"])
            answer.is_valid(prepare_django_request(posted), raise_exceptions=True)
            asked = answer.get_in_response_to()
            confirmed = answer.get_xml_document().iter(f"{{{Constants.NS_SAML}}}SubjectConfirmationData")
            if not asked or any(one.get("InResponseTo") != asked for one in confirmed):
                raise ValueError("the answer or its subject does not belong to a login that began here (InResponseTo)")
            if not answer.get_audiences():
                raise ValueError("the answer does not name an audience")
            return answer
        except Exception as error:  # whatever XML may hold
            raise ProviderException(f"{type(error).__name__}: {error}") from error

    def _claims(self, answer: Response) -> dict[str, Any]:
        attributes = answer.get_attributes()
        names = (self.given.subject,) if self.given.subject else SUBJECTS
        subject = next((attributes[name][0] for name in names if attributes.get(name)), "")
        if not subject and not self.given.subject and answer.get_nameid_format() == Constants.NAMEID_PERSISTENT:
            subject = answer.get_nameid()
        if not subject or not subject.isprintable():
            raise ProviderException("no attribute identifies this person: set `subject` to an attribute, see login.md")
        # The institution vouches for addresses: SAML does not state who verified them.
        return {**attributes, "email_verified": True, "iss": f"saml {self.given.entity_id}", "sub": subject}

    def metadata(self, request: HttpRequest) -> bytes | str:
        """Return Winnow's metadata for the identity provider, without a request to the provider."""
        given = {
            **self.app.settings,
            "idp": {"entity_id": "none", "x509cert": "none", "sso_url": "https://none.example"},
        }
        return Settings(build_saml_config(request, given, self.id), sp_validation_only=True).get_sp_metadata()

    def logout_address(self, request: HttpRequest, held: dict[str, str]) -> str:
        """Return the address that ends the provider's own session. Raises ProviderException if it has none."""
        auth = Auth(prepare_django_request(request), self._settings(request))
        if not auth.get_slo_url():
            raise ProviderException("the metadata have no SingleLogoutService with HTTP-Redirect")
        return auth.logout(
            return_to=request.build_absolute_uri(reverse("login")), name_id=held["name_id"],
            session_index=held["index"], name_id_format=held["format"], nq=held["nq"], spnq=held["spnq"],
        )  # fmt: skip

    def asked_out(self, request: HttpRequest) -> tuple[str, str]:
        """Handle the provider's request to log somebody out: return the address for our answer, and the person. Raises
        ProviderException if the provider has not signed the request."""
        auth = Auth(prepare_django_request(request), self._settings(request, want_message_signed=True))
        try:
            address = auth.process_slo(keep_local_session=True)
            if auth.get_errors():
                raise ValueError(auth.get_last_error_reason())
            return address, LogoutRequest.get_nameid(auth.get_last_request_xml(), auth.get_settings().get_sp_key())
        except Exception as error:  # whatever XML may hold
            raise ProviderException(f"{type(error).__name__}: {error}") from error


def _read(file: str) -> str:
    return Path(file).read_text()
