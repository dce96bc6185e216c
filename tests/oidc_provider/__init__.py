"""An OpenID Connect provider for tests, in a process of its own: allauth.idp behind a small Django project.

    python -m tests.oidc_provider FOLDER     # prints its address, then serves until it is killed

Whoever comes to log in is the person that the test has set: `POST /control` takes what `site.State` has. The same call
makes the provider misbehave: wrong claims, tokens signed by somebody else, nonsense at one of its addresses.
"""
