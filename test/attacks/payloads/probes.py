"""Tries many attacks at once and prints a line of JSON for each: whether it came through, and the word that kept it from that."""
import ctypes, errno, fcntl, json, mmap, os, platform, resource, signal, socket, struct, sys, urllib.request

at = json.loads(sys.argv[1])
numbers = at["calls"]
probes = []
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def probe(attack, name, when=True):
    def take(function):
        if when:
            probes.append((attack, name, function))
        return function

    return take


def call(name, *args):
    """The errno of a system call, 0 when it succeeded."""
    if name not in numbers:
        return errno.ENOSYS
    return 0 if libc.syscall(numbers[name], *map(ctypes.c_ulong, args)) >= 0 else ctypes.get_errno()


def reaches_kernel(name, *args):
    """Whether the kernel itself looks at the arguments, and not the filter, which answers first."""
    number = call(name, *args)
    if number in (errno.EPERM, errno.ENOSYS):
        raise OSError(number, "")
    return True


def in_child(function):
    """The exit code of a process of its own, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if function() else 1)
        except BaseException:
            os._exit(2)
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) if not os.WCOREDUMP(status) else 999


def reads(path):
    with open(path, "rb") as file:
        return len(file.read(64)) > 0


def writes(path):
    with open(path, "wb") as file:
        file.write(b"x")
    os.unlink(path)
    return True


def opens(path, flags=os.O_WRONLY):
    os.close(os.open(path, flags))
    return True


def says(path):
    try:
        os.stat(path)
        return True
    except OSError as e:
        # A different error than for a missing name reveals that the file exists.
        if e.errno != errno.ENOENT:
            return True
        raise


# The file system
probe(1, "content")(lambda: reads(at["secret"]))
probe(1, "existence")(lambda: says(at["secret"]))
probe(2, "events")(lambda: reads(at["other"] + "/events.jsonl"))
probe(2, "secret")(lambda: reads(at["other"] + "/secrets/TOKEN"))
probe(3, "own log")(lambda: reads("../events.jsonl"))
probe(3, "other runs")(lambda: "r-other" in os.listdir("../.."))
probe(3, "project")(lambda: reads("../../../private"))
for folder in ["/usr", "/usr/local/bin", "/etc", "/"]:
    probe(4, folder)(lambda folder=folder: writes(folder + "/.acor-attack"))
probe(5, "open folder")(lambda: writes(at["open"] + "/planted"))
probe(5, "mode of a file")(lambda: (os.chmod(at["owned"], 0o640), os.chmod(at["owned"], 0o644)) and True)
probe(5, "times of a file")(lambda: os.utime(at["owned"]) or True)
probe(5, "other run")(lambda: writes(at["other"] + "/work/planted"))


@probe(6, "link")
def _():
    os.symlink(at["secret"], "to-secret")
    return reads("to-secret")


@probe(6, "link to the root")
def _():
    os.symlink("/", "to-root")
    return reads("to-root" + at["secret"])


@probe(7, "link")
def _():
    os.symlink(at["open"], "to-open")
    return writes("to-open/through")


@probe(8, "hard link")
def _():
    os.link(at["secret"], "second-name")
    return reads("second-name")


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def any_of(paths, function):
    last = OSError(errno.ENOENT, "")
    for path in paths:
        try:
            if function(path):
                return True
        except OSError as e:
            last = e
    raise last


probe(9, "root")(lambda: any_of([f"/proc/{pid}/root{at['secret']}" for pid in [*pids(), at["canary"]]], reads))
probe(9, "cwd")(lambda: any_of([f"/proc/{pid}/cwd/secret" for pid in [*pids(), at["canary"]]], reads))
probe(10, "oldroot")(lambda: any_of(["/oldroot", "/newroot"], os.path.lexists) )

probe(11, "mount")(lambda: reaches_kernel("mount", 0, 0, 0, 0, 0))
probe(11, "umount2")(lambda: reaches_kernel("umount2", 0, 0))
probe(11, "chroot")(lambda: reaches_kernel("chroot", 0))
probe(11, "open_tree")(lambda: reaches_kernel("open_tree", -1, 0, 0x7FFFFFF))
probe(11, "mount_setattr")(lambda: reaches_kernel("mount_setattr", -1, 0, 0x7FFFFFF, 0, 0))
if at["isRoot"]:
    probe(11, "pivot_root")(lambda: reaches_kernel("pivot_root", 0, 0))
    probe(11, "move_mount")(lambda: reaches_kernel("move_mount", -1, 0, -1, 0, 0x7FFFFFF))
    probe(11, "fsopen")(lambda: reaches_kernel("fsopen", 0, 0))
    probe(11, "fsmount")(lambda: reaches_kernel("fsmount", -1, 0x7FFF, 0))

for name in [".git/hooks/pre-commit", "inner/.git/config", ".vscode/tasks.json", ".bashrc", ".github/workflows/ci.yml", "package.json"]:

    @probe(15, name)
    def _(path=os.path.join(at["writable"], name)):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return writes(path)


for name, path in {"own folder": at["tool"] + "/helper.sh", "manifest": at["tool"] + "/tool.yaml", "configuration": at["project"] + "/.acor/config.yaml", "policy": at["project"] + "/.acor/policy.yaml", "cache": at["project"] + "/.runs/cache/discovery.json"}.items():
    probe(16, name)(lambda path=path: opens(path, os.O_WRONLY | os.O_APPEND))
probe(16, "new file")(lambda: writes(at["tool"] + "/planted.sh"))
# A running program cannot be opened for writing (ETXTBSY): with that error the sandbox did not prevent the write.
probe(16, "sandbox", at["isRoot"])(lambda: lends(lambda: opens("/usr/bin/bwrap", os.O_WRONLY | os.O_APPEND)))


def lends(function):
    try:
        return function()
    except OSError as e:
        if e.errno == errno.ETXTBSY:
            return True
        raise


def bits(mode):
    with open("lender", "w"):
        pass
    os.chmod("lender", mode)
    return os.stat("lender").st_mode & mode & 0o6000 != 0


probe(20, "setuid")(lambda: bits(0o4755))
probe(20, "setgid")(lambda: bits(0o2755))


@probe(20, "capabilities", at["isRoot"])
def _():
    open("capable", "w").close()
    os.setxattr("capable", "security.capability", struct.pack("<IIIII", 0x02000001, 1, 0, 0, 0))
    return True


@probe(20, "device", at["isRoot"])
def _():
    os.mknod("device", 0o20600, os.makedev(1, 3))
    os.unlink("device")
    return True


# Processes
def signals(pid):
    os.kill(pid, 0)
    return True


probe(26, "by number")(lambda: signals(at["canary"]))
probe(26, "supervisor")(lambda: signals(at["runner"]))


@probe(27, "ptrace")
def _():
    number = call("ptrace", 0x4206, at["canary"], 0, 0)
    if number:
        raise OSError(number, "")
    return True


probe(27, "memory")(lambda: opens(f"/proc/{at['canary']}/mem", os.O_RDWR))


@probe(27, "process_vm_readv")
def _():
    # A mapping of no memory at all: it only requests the permission.
    number = call("process_vm_readv", at["canary"], 0, 0, 0, 0, 0)
    if number:
        raise OSError(number, "")
    with open(f"/proc/{at['canary']}/maps") as maps:
        start = int(maps.readline().split("-")[0], 16)
    here = ctypes.create_string_buffer(8)
    local = struct.pack("QQ", ctypes.addressof(here), 8)
    remote = struct.pack("QQ", start, 8)
    a, b = ctypes.create_string_buffer(local), ctypes.create_string_buffer(remote)
    return call("process_vm_readv", at["canary"], ctypes.addressof(a), 1, ctypes.addressof(b), 1, 0) == 0


# Information
def environ_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return b"AMBIENT=of the runner" in file.read()


probe(32, "by number")(lambda: environ_of(at["canary"]))
probe(32, "any")(lambda: any_of(pids(), environ_of))


@probe(33, "first process")
def _():
    # In a sandbox this is the sandbox's own; that of the machine reveals nothing of the runner.
    return any_of([at["canary"], 1], lambda pid: b"AMBIENT" in open(f"/proc/{pid}/environ", "rb").read())


probe(34, "list")(lambda: at["canary"] in pids())
probe(34, "arguments")(lambda: b"canary" in open(f"/proc/{at['canary']}/cmdline", "rb").read())

def holds_anything(path):
    return len(os.listdir(path)) > 0

probe(36, "sys")(lambda: holds_anything("/sys"))
probe(36, "cgroups")(lambda: holds_anything("/sys/fs/cgroup"))
probe(36, "kcore", at["isRoot"])(lambda: opens("/proc/kcore", os.O_RDONLY))
probe(36, "kernel log")(lambda: reaches_kernel("syslog", 99, 0, 0))
probe(36, "symbols", at["isRoot"])(lambda: any(line.split()[0].strip("0") for line in open("/proc/kallsyms")))

probe(38, "write")(lambda: opens(at["token"], os.O_WRONLY | os.O_APPEND))


@probe(38, "mode")
def _():
    before = os.stat(at["token"]).st_mode
    os.chmod(at["token"], before ^ 0o100)
    os.chmod(at["token"], before)
    return True


@probe(38, "delete")
def _():
    os.rename(at["token"], at["token"] + "-away")
    os.rename(at["token"] + "-away", at["token"])
    return True


probe(39, "core")(lambda: in_child(lambda: os.abort()) == 999)
probe(39, "limit")(lambda: resource.getrlimit(resource.RLIMIT_CORE)[1] > 1)  # With 1 the kernel dumps nowhere.


TIOCSTI, TIOCLINUX, TIOCNXCL = 0x5412, 0x541C, 0x540D


def reaches_terminal(request):
    """There is no terminal here: the error 'not a terminal' means that the call reached the kernel."""
    with open("/dev/null") as file:
        number = call("ioctl", file.fileno(), request, 0)
    if number == errno.EPERM:
        raise OSError(number, "")
    return True


for name, request in {"TIOCSTI": TIOCSTI, "TIOCLINUX": TIOCLINUX, "TIOCSTI, high bits": TIOCSTI | 1 << 32, "TIOCLINUX, high bits": TIOCLINUX | 1 << 40}.items():
    probe(40, name)(lambda request=request: reaches_terminal(request))

# Privilege and kernel
for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger"]:
    probe(41, path, os.path.exists(path))(lambda path=path: opens(path))


def status(key):
    with open("/proc/self/status") as file:
        return next(line.split(":")[1].strip() for line in file if line.startswith(key + ":"))


probe(42, "user")(lambda: 0 in os.getresuid())
probe(42, "group")(lambda: 0 in os.getresgid() or 0 in os.getgroups())
# Only root could have given away what exists here.
for key in ["CapPrm", "CapEff", *(["CapBnd"] if at["isRoot"] else [])]:
    probe(42, key)(lambda key=key: int(status(key), 16) != 0)

NEWUSER, NEWNS, NEWPID = 0x10000000, 0x20000, 0x20000000
probe(43, "unshare")(lambda: in_child(lambda: call("unshare", NEWUSER) == 0) == 0)
probe(43, "unshare, high bits")(lambda: in_child(lambda: call("unshare", NEWUSER | 1 << 33) in (0, errno.EINVAL)) == 0)


@probe(43, "clone")
def _():
    number = numbers["clone"]
    pid = libc.syscall(number, ctypes.c_ulong(NEWUSER | signal.SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "")
    os.waitpid(pid, 0)
    return True


probe(43, "clone3")(lambda: reaches_kernel("clone3", 0, 0))
probe(43, "setns")(lambda: reaches_kernel("setns", -1, NEWNS))
probe(44, "no new privileges")(lambda: status("NoNewPrivs") == "0")

probe(45, "io_uring")(lambda: reaches_kernel("io_uring_setup", 0, 0))
probe(45, "io_uring_enter")(lambda: reaches_kernel("io_uring_enter", -1, 0, 0, 0, 0, 0))
probe(45, "keyctl")(lambda: reaches_kernel("keyctl", 0, -3, 0))
probe(45, "add_key")(lambda: reaches_kernel("add_key", 0, 0, 0, 0, -3))
probe(45, "perf_event_open")(lambda: reaches_kernel("perf_event_open", 0, 0, -1, -1, 0xFFFF))
probe(45, "userfaultfd")(lambda: reaches_kernel("userfaultfd", 0x7FFF0000))
if at["isRoot"]:
    probe(45, "bpf")(lambda: reaches_kernel("bpf", 0x7FFF, 0, 0))
    probe(45, "finit_module")(lambda: reaches_kernel("finit_module", -1, 0, 0x7FFF))
    probe(45, "kexec_load")(lambda: reaches_kernel("kexec_load", 0, 1 << 20, 0, 0x7FFF))

isIntel = platform.machine() == "x86_64"


@probe(46, "x32", isIntel)
def _():
    def other():
        libc.syscall(ctypes.c_long(0x40000000 | 39))
        return True

    return in_child(other) == 0


@probe(46, "int 0x80", isIntel)
def _():
    def other():
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # mov eax, 20 (getpid); int 0x80; ret
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0

    return in_child(other) == 0


probe(47, "own program")(lambda: lends(lambda: opens("/proc/self/exe")))
probe(47, "launcher")(lambda: lends(lambda: opens("/usr/bin/perl", os.O_WRONLY | os.O_APPEND)))

# The network
def reaches(host, port):
    with socket.create_connection((host, port), timeout=10) as s:
        return s.recv(10) == b"hello"


probe(48, "loopback")(lambda: reaches("127.0.0.1", at["port"]))
probe(49, "own address", at["address"] is not None)(lambda: reaches(at["address"], at["port"]))
for host in ["192.0.2.1", "169.254.169.254", "2600::1", "fd00:ec2::254"]:
    probe(49, host, at["isConfined"])(lambda host=host: (reaches(host, 80), True)[1])


def unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        return True


probe(51, "path")(lambda: unix(at["unix"]))
probe(51, "abstract")(lambda: unix("\0" + at["abstract"]))
for name, kind in {"vsock": (40, 1, 0), "AF_ALG": (38, 5, 0), "netfilter": (16, 3, 12), "audit": (16, 3, 9)}.items():
    probe(52, name)(lambda kind=kind: socket.socket(*kind).close() or True)
for name, kind in {"packet": (17, 3, 768), "raw": (2, 3, 1), "raw, IPv6": (10, 3, 58)}.items():
    probe(52, name, at["isRoot"])(lambda kind=kind: socket.socket(*kind).close() or True)


@probe(53, "datagram")
def _():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(10)
        s.connect(("127.0.0.1", at["udp"]))
        s.send(b"question")
        return s.recv(10) == b"answer"


@probe(56, "proxy variables unset")
def _():
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]:
        os.environ.pop(name, None)
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{at['port']}/", timeout=10) is not None
    except urllib.error.URLError as e:
        raise e.reason
    except Exception:
        # The server there does not speak HTTP: an error in its reply means that the payload reached it.
        return True


# Around the run
def succeeds(result):
    """For functions of the C library: -1 and errno."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return True


probe(75, "limits")(lambda: resource.prlimit(at["canary"], resource.RLIMIT_CORE, (0, 0)) and True)
probe(75, "priority")(lambda: os.setpriority(os.PRIO_PROCESS, at["canary"], 10) or True)
probe(75, "priority of the user")(lambda: os.setpriority(os.PRIO_USER, 0, 11) or os.getpriority(os.PRIO_PROCESS, at["canary"]) == 11)
probe(75, "processors")(lambda: os.sched_setaffinity(at["canary"], os.sched_getaffinity(0)) or True)
probe(75, "scheduling")(lambda: os.sched_setscheduler(at["canary"], os.SCHED_BATCH, os.sched_param(0)) or True)
probe(76, "set")(lambda: os.setxattr(at["owned"], "user.acor", b"x") or True)
probe(76, "list")(lambda: os.listxattr(at["owned"]) is not None)
probe(20, "setuid by open")(lambda: made(lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))))
probe(20, "setgid by mknod")(lambda: made(lambda path: os.mknod(path, 0o102755)))


def made(make):
    make("made")
    try:
        return os.stat("made").st_mode & 0o6000 != 0
    finally:
        os.unlink("made")


@probe(77, "inotify")
def _():
    fd = libc.inotify_init1(0)
    succeeds(fd)
    try:
        return succeeds(libc.inotify_add_watch(fd, at["open"].encode(), 0x100))
    finally:
        os.close(fd)


probe(78, "a file without a name")(lambda: os.close(os.memfd_create("acor")) or True)


@probe(78, "shared memory of System V")
def _():
    segment = libc.shmget(0, 4096, 0o1600)
    succeeds(segment)
    return libc.shmctl(segment, 0, None) == 0


@probe(78, "messages of System V")
def _():
    queue = libc.msgget(0, 0o1600)
    succeeds(queue)
    return libc.msgctl(queue, 0, None) == 0


for attack, name, function in probes:
    try:
        harm, word = bool(function()), ""
    except OSError as e:
        harm, word = False, errno.errorcode.get(e.errno, str(e))
    except Exception as e:
        harm, word = False, repr(e)
    print(json.dumps({"attack": attack, "probe": name, "harm": harm, "word": word}), flush=True)
