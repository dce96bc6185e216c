"""What a token for the API may do, and until when."""

from django.db import models
from rest_framework.authtoken.models import Token


class TokenTerms(models.Model):
    """The terms of a token. One without them was made when the API only read: it reads, and does not expire."""

    token = models.OneToOneField(Token, on_delete=models.CASCADE, related_name="terms")
    expires_at = models.DateTimeField()
    writes = models.BooleanField()  # it may change data, and not only read
