// The program between the runner and one Jupyter kernel, in the conversation's sandbox. It uses the client library that
// comes with every kernel, and exchanges JSON lines with the runner. So the runner needs neither ZeroMQ nor the parts
// of the protocol that differ between Jupyter versions.

export const HELPER_FILE = 'kernel.py'

/** The limit of one picture, and of all pictures of a cell, in characters of base64. */
const MAX_PICTURE_CHARS = 4 * 1024 * 1024
const MAX_PICTURES_CHARS = 6 * 1024 * 1024
const MAX_PICTURES = 8
/** Longer texts are split: no piece may be longer than one message of the runner. */
const MAX_TEXT_CHARS = 64 * 1024

export const HELPER_SOURCE = `
import base64, json, os, queue, sys, tempfile, threading, time

# Nothing that a cell writes into the workspace may stand in for a library.
sys.path[:] = [p for p in sys.path if p not in ('', os.getcwd(), os.path.dirname(os.path.abspath(__file__)))]
from jupyter_client import KernelManager

out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace')
os.dup2(2, 1)

def tell(**record):
    out.write(json.dumps(record) + '\\n')
    out.flush()

def tell_text(kind, text, **more):
    text = text.encode('utf-8', 'replace').decode('utf-8')
    for at in range(0, len(text), ${MAX_TEXT_CHARS}):
        tell(t=kind, text=text[at:at + ${MAX_TEXT_CHARS}], **more)

folder = tempfile.mkdtemp(prefix='kernel-')
# In the sandbox this is memory that goes with it. A path, not a port: nobody else of the machine can connect.
manager = KernelManager(kernel_name='python3', transport='ipc', ip=os.path.join(folder, 'k'),
                        connection_file=os.path.join(folder, 'connection.json'))
manager.kernel_spec.argv[0] = sys.executable
with open(os.devnull, 'rb') as nothing:
    manager.start_kernel(stdout=2, stderr=2, stdin=nothing)
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
pid = manager.provisioner.process.pid

orders = queue.Queue()
interrupted = threading.Event()

def read_orders():
    for line in sys.stdin:
        order = json.loads(line)
        if order['op'] == 'interrupt':
            interrupted.set()
            manager.interrupt_kernel()
        else:
            orders.put(order)
    # The runner is gone.
    manager.shutdown_kernel(now=True)
    os._exit(0)

def folder_now():
    try:
        return os.readlink('/proc/%d/cwd' % pid)
    except OSError:
        return ''

BEGINNINGS = {'image/png': b'\\x89PNG\\r\\n\\x1a\\n', 'image/jpeg': b'\\xff\\xd8\\xff'}

# None for what a cell called a picture and is none.
def picture_in(mime, value):
    if not isinstance(value, str):
        return None
    value = ''.join(value.split())
    try:
        return value if base64.b64decode(value, validate=True).startswith(BEGINNINGS[mime]) else None
    except ValueError:
        return None

class Cell:
    def __init__(self):
        self.pictures = 0
        self.chars = 0

    def data(self, data):
        for mime in BEGINNINGS:
            picture = picture_in(mime, data.get(mime))
            if picture is not None:
                return self.picture(mime, picture)
        text = data.get('text/plain')
        if not isinstance(text, str) or text == '':
            text = next((v for v in data.values() if isinstance(v, str)), '[an output of a kind that has no text]')
        tell_text('text', text + '\\n')

    def picture(self, mime, data):
        self.pictures += 1
        self.chars += len(data)
        if self.pictures > ${MAX_PICTURES} or len(data) > ${MAX_PICTURE_CHARS} or self.chars > ${MAX_PICTURES_CHARS}:
            self.chars -= len(data)
            return tell_text('text', '[a picture of %d bytes is not shown: a cell shows ${MAX_PICTURES} pictures, each of 3 MiB at most, together 4.5 MiB]\\n' % (len(data) * 3 // 4))
        tell(t='picture', mime=mime, data=data)

def hint(name):
    if name == 'StdinNotImplementedError':
        return 'A cell cannot ask for input: nobody can type into it. Write the value into the code.\\n'
    return ''

# The kernel's process is the cell's: what it sends need not be what the wire says.
def take(message, cell):
    try:
        took(message, cell)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        tell_text('text', '[an output that cannot be read: %s]\\n' % type(error).__name__)

def took(message, cell):
    kind, content = message['msg_type'], message['content']
    if kind == 'stream':
        tell_text('text', content['text'])
    elif kind in ('display_data', 'execute_result', 'update_display_data'):
        cell.data(content['data'])
    elif kind == 'error':
        tell_text('text', '\\n'.join(content['traceback']) + '\\n' + hint(content['ename']))

def silent(code):
    client.execute(code, silent=True, store_history=False, allow_stdin=False)

def run(order):
    cell = Cell()
    if order['env']:
        silent('import os as __bw; __bw.environ.update(%r); del __bw' % (order['env'],))
    interrupted.clear()
    asked = client.execute(order['code'], allow_stdin=False, stop_on_error=False)
    status, replied_at = None, None
    while True:
        message = None
        try:
            message = client.get_iopub_msg(timeout=0.1 if status is None else 0.02)
        except queue.Empty:
            if not manager.is_alive():
                return None
        if message is not None:
            mine = message['parent_header'].get('msg_id') == asked
            if mine and message['msg_type'] == 'status' and message['content']['execution_state'] == 'idle':
                return status or last_reply(asked)
            take(message, cell)
        if status is None:
            status = reply_to(asked, 0)
            replied_at = time.monotonic()
        elif message is None and time.monotonic() - replied_at > 2:
            # A flood may lose the message that the kernel is idle.
            return status

def reply_to(asked, seconds):
    until = time.monotonic() + seconds
    while True:
        try:
            reply = client.get_shell_msg(timeout=max(0.001, until - time.monotonic()))
        except queue.Empty:
            return None
        if reply['parent_header'].get('msg_id') == asked:
            return reply['content']['status']

# A kernel that is interrupted between a cell's arrival and its first line gives no reply to it at all.
def last_reply(asked):
    reply = reply_to(asked, 0.5 if interrupted.is_set() else 5)
    if reply is None and interrupted.is_set():
        tell_text('text', 'KeyboardInterrupt: the cell was interrupted before it began\\n')
        return 'error'
    return reply or 'ok'

def death():
    code = manager.provisioner.process.poll()
    tell(t='dead', code=code if code is not None else -1)
    os._exit(0)

threading.Thread(target=read_orders, daemon=True).start()
tell(t='ready', python=sys.executable, cwd=folder_now())
between = Cell()
while True:
    try:
        order = orders.get(timeout=0.25)
    except queue.Empty:
        if not manager.is_alive():
            death()
        # What a thread of an earlier cell prints.
        try:
            while True:
                take(client.get_iopub_msg(timeout=0), between)
        except queue.Empty:
            continue
    status = run(order)
    if status is None:
        death()
    tell(t='done', status=status, cwd=folder_now())
`
