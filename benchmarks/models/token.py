"""An API token's rights and expiry."""

from django.db import models
from rest_framework.authtoken.models import Token


class TokenTerms(models.Model):
    """The terms of a token. A token without terms is from a read-only API: it can only read and does not expire."""

    token = models.OneToOneField(Token, on_delete=models.CASCADE, related_name="terms")
    expires_at = models.DateTimeField()
    writes = models.BooleanField()  # it may change data, not just read
