"""What a tool author imports: ``from acor import emit_start, emit_result``.

``acor.protocol`` offers the same names. The TypeScript and bash SDKs offer the same words.
"""

from acor.protocol import *  # noqa: F401,F403
from acor.protocol import __all__  # noqa: F401
