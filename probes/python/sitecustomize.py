# Python runs this file when it starts, because `ddbench run` has put its folder first in PYTHONPATH. It must not
# fail, and not be seen: the folder leaves the search path again, and the user's own sitecustomize runs in its place.
import os
import sys


def _take_place():
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder or not entry]
    if sys.version_info >= (3, 7) and "DDBENCH_SPOOL" in os.environ:
        written = sys.dont_write_bytecode
        sys.dont_write_bytecode = True
        sys.path.insert(0, folder)
        try:
            import ddbench_marks
            ddbench_marks.install()
        except Exception:  # the program runs on without marks
            pass
        finally:
            sys.dont_write_bytecode = written
            if sys.path[:1] == [folder]:
                del sys.path[0]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401: the user's, where there is one
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)  # Python takes it from there when it has run this file


_take_place()
