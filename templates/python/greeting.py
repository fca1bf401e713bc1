"""The work itself. It knows nothing of ACOR, so that it can be tested and used by itself."""


def greeting(who):
    return "Hello, %s!" % who
