// Ways out of the sandbox, tried. A row prints ESCAPED when it got out; each runs as a command of a conversation would.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { programLaunch } from '../src/sandbox/launch.ts'
import { startRunner } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'

type Row = readonly [name: string, script: string]

const FILES: readonly Row[] = [
  ['the folder of the copies', 'ls FOLDER && echo ESCAPED'],
  ['another conversation', 'cat FOLDER/c2/workspace/secret FOLDER/c2/journal/* && echo ESCAPED'],
  [
    'another conversation by ..',
    'cat /workspace/../c2/workspace/secret /workspace/../../c2/workspace/secret && echo ESCAPED',
  ],
  ['the journal of this one', 'cat FOLDER/c1/journal/calls.jsonl /workspace/../journal/calls.jsonl && echo ESCAPED'],
  ['the home folder of root', 'ls /root && echo ESCAPED'],
  ['homes of others', '[ "$(ls /home)" != agent ] && echo ESCAPED'],
  ['passwords', 'cat /etc/shadow && echo ESCAPED'],
  ['accounts of the machine', 'grep -q postgres /etc/passwd && echo ESCAPED'],
  ['keys of the machine', 'ls /etc/ssh /etc/ssl/private && echo ESCAPED'],
  ['a link to the outside', 'ln -s /etc/shadow s; cat s && echo ESCAPED'],
  ['a link through proc', 'cat /proc/1/root/etc/shadow && echo ESCAPED'],
  ['the root of the shell', 'ls /proc/self/root/FOLDER && echo ESCAPED'],
  ['a hard link to the machine', 'ln /usr/bin/env here && echo x >> here && echo ESCAPED'],
  ['writing programs of the machine', 'echo x >> /usr/bin/env && echo ESCAPED'],
  ['new files in /usr', 'touch /usr/x && echo ESCAPED'],
  ['new files at the root', 'touch /x && echo ESCAPED'],
  ['new files in /etc', 'touch /etc/x && echo ESCAPED'],
  ['new files in /dev', 'touch /dev/x && echo ESCAPED'],
  [
    'the pipe of the runner replaced',
    'rm -f /run/bellwether/call && echo ESCAPED; mv /run/bellwether /run/b && echo ESCAPED',
  ],
  ['the shell source of the runner', 'echo x >> /run/bellwether/rc && echo ESCAPED'],
  ['accounts rewritten', 'echo root::0:0::/: > /etc/passwd && echo ESCAPED'],
  ['a disk mounted', 'mount -t tmpfs none /mnt && echo ESCAPED; mount --bind / /workspace && echo ESCAPED'],
  ['a read-only folder made writable', 'mount -o remount,rw /usr && echo ESCAPED'],
  ['a device made', 'mknod disk b 254 0 && echo ESCAPED'],
  ['the disk read', 'cat /dev/vda /dev/sda /dev/mem /dev/kmsg | head -c 1 | grep -q . && echo ESCAPED'],
  ['the root changed', 'chroot / true && echo ESCAPED'],
  [
    'open files of the runner',
    'for f in /proc/self/fd/*; do case "$(readlink $f)" in *runner*|socket:*) echo ESCAPED $f;; esac; done',
  ],
]

const PROCESSES: readonly Row[] = [
  ['processes of the machine', 'ps -e -o args | grep -v grep | grep -q -e main.ts -e vitest && echo ESCAPED'],
  [
    'the environment of the runner',
    'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -e RUNNER_KEY -e runner-key-of && echo ESCAPED',
  ],
  ['the key in its own environment', 'env | grep -e BELLWETHER -e runner-key && echo ESCAPED'],
  ['signals to the machine', 'kill -9 RUNNER_PID && echo ESCAPED'],
  ['the parent of the sandbox', '[ "$(readlink /proc/1/exe)" = RUNNER_EXE ] && echo ESCAPED'],
  ['root', '[ "$(id -u)" = 0 ] && echo ESCAPED; su -c true && echo ESCAPED; sudo -n true && echo ESCAPED'],
  ['a setuid program', 'cp /bin/bash b; chmod 4755 b; [ "$(./b -p -c "id -u")" = 0 ] && echo ESCAPED'],
  [
    'capabilities',
    '[ "$(grep CapEff /proc/self/status | tr -dc 0-9a-f | tail -c 16)" != 0000000000000000 ] && echo ESCAPED',
  ],
  ['privileges by exec', 'grep -q "NoNewPrivs:.0" /proc/self/status && echo ESCAPED'],
  ['a user namespace with root on the machine', 'unshare -Ur cat /etc/shadow && echo ESCAPED'],
  ['namespaces of others', 'nsenter -t 1 -m true && echo ESCAPED'],
  [
    'settings of the kernel',
    'echo 1 > /proc/sys/kernel/core_pattern && echo ESCAPED; echo b > /proc/sysrq-trigger && echo ESCAPED',
  ],
  ['groups of processes', 'mkdir /sys/fs/cgroup/x && echo ESCAPED'],
  ['the name of the machine', 'hostname evil && echo ESCAPED; [ "$(hostname)" = sandbox ] || echo ESCAPED'],
  [
    'typing into the terminal of the runner',
    'python3 -c "import fcntl,termios\nfcntl.ioctl(0,termios.TIOCSTI,b\'x\')" > /dev/null 2>&1; read -r -t 0.1 x; [ "$x" = x ] && echo ESCAPED-INTO-ITSELF; true',
  ],
  [
    'shared memory of others',
    '[ -n "$(ls /dev/shm)" ] && echo ESCAPED; ipcs -m 2> /dev/null | grep -q 0x && echo ESCAPED',
  ],
  ['limits taken back', 'ulimit -u 100000 && echo ESCAPED; ulimit -f unlimited && echo ESCAPED'],
]

const NETWORK: readonly Row[] = [
  ['the service on the loopback', 'bash -c "exec 3<>/dev/tcp/127.0.0.1/SERVICE_PORT" && echo ESCAPED'],
  [
    'the service by the proxy',
    'curl -sf --noproxy "" -x http://127.0.0.1:3128 http://127.0.0.1:SERVICE_PORT/ && echo ESCAPED',
  ],
  [
    'the service by a tunnel',
    'curl -sf --noproxy "" -p -x http://127.0.0.1:3128 http://127.0.0.1:SERVICE_PORT/ && echo ESCAPED',
  ],
  ['addresses of metadata', 'curl -sf -m 5 -x http://127.0.0.1:3128 http://169.254.169.254/latest/ && echo ESCAPED'],
  ['addresses of metadata without the proxy', 'bash -c "exec 3<>/dev/tcp/169.254.169.254/80" && echo ESCAPED'],
  ['a private network', 'curl -sf -m 5 -x http://127.0.0.1:3128 http://10.0.0.1/ && echo ESCAPED'],
  ['a host that is not listed', 'curl -sf -m 5 https://example.com/ && echo ESCAPED'],
  ['another port of a listed host', 'curl -sf -m 5 https://github.com:22/ && echo ESCAPED'],
  ['a raw socket', 'ping -c 1 -W 1 127.0.0.1 > /dev/null && echo ESCAPED'],
  ['names without the proxy', 'getent hosts github.com && echo ESCAPED'],
  [
    'interfaces of the machine',
    '[ "$(ls /sys/class/net 2> /dev/null)" ] && echo ESCAPED; grep -v -e lo: -e Inter -e face /proc/net/dev && echo ESCAPED',
  ],
  ['abstract sockets of the machine', 'grep -q @ /proc/net/unix && echo ESCAPED'],
  [
    'the proxy asked for itself',
    'printf "CONNECT 127.0.0.1:3128 HTTP/1.1\\r\\n\\r\\n" | socat -t 2 - TCP:127.0.0.1:3128 | grep " 200 " && echo ESCAPED',
  ],
  [
    'a tunnel with a listed host as its user',
    'printf "CONNECT github.com:443@127.0.0.1:SERVICE_PORT HTTP/1.1\\r\\n\\r\\n" | socat -t 2 - TCP:127.0.0.1:3128 | grep " 200 " && echo ESCAPED',
  ],
  ...[
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '0.0.0.0',
    'localhost',
    '127.0.0.1.',
  ].map(
    (host): Row => [
      `the service as ${host}`,
      `curl -sf -m 5 --noproxy "" -x http://127.0.0.1:3128 "http://${host}:SERVICE_PORT/" && echo ESCAPED; curl -sf -m 5 --noproxy "" -p -x http://127.0.0.1:3128 "http://${host}:SERVICE_PORT/" && echo ESCAPED`,
    ],
  ),
  [
    'words by names',
    'getent hosts secret.example.com && echo ESCAPED; curl -sf -m 5 http://secret.example.com/ && echo ESCAPED',
  ],
  ['datagrams', 'echo x > /dev/udp/8.8.8.8/53 && echo ESCAPED'],
]

/** Prints ESCAPED when the call of the kernel is not refused; its error is shown otherwise. */
const call = (number: number, ...values: (string | number)[]) =>
  `/usr/bin/python3 -c "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nfound = libc.syscall(${[number, ...values].join(', ')})\nprint('ESCAPED' if found >= 0 else ctypes.get_errno())"`

const KERNEL: readonly Row[] = [
  ['the keys of whoever started the runner', call(250, 0, -3, 1)],
  ['a new key', call(248, "b'user'", "b'x'", "b'x'", 1, -3)],
  ['a key asked for', call(249, "b'user'", "b'bellwether-test'", 0, 0)],
  ['io_uring', call(425, 8, 'ctypes.create_string_buffer(200)')],
  ['a program for the kernel', call(321, 0, 'ctypes.create_string_buffer(200)', 48)],
  ['counters of the processor', call(298, 'ctypes.create_string_buffer(200)', 0, -1, -1, 0)],
  ['faults of pages handled', call(323, 1)],
  ['a file system opened', call(430, "b'tmpfs'", 0)],
  ['a mount by the old call', call(165, "b'none'", "b'/tmp'", "b'tmpfs'", 0, 0)],
  ['a file by its handle', call(304, -100, 'ctypes.create_string_buffer(64)', 0)],
  ['memory of the first process', `${call(310, 1, 0, 0, 0, 0, 0)} > /dev/null; grep -c . /proc/1/mem && echo ESCAPED`],
  ['tracing a process of the machine', call(101, 16, 'RUNNER_PID', 0, 0)],
  ['memory without a bound in a nested namespace', 'unshare -Urm mount -t tmpfs -o size=8G none /mnt && echo ESCAPED'],
  [
    'a read-only folder in a nested namespace',
    'unshare -Urm sh -c "mount -o remount,bind,rw /usr && touch /usr/x" && echo ESCAPED',
  ],
  [
    'what covers the machine taken away',
    'unshare -Urm sh -c "umount -l /etc/passwd || umount -l /run/bellwether || umount -l /usr" && echo ESCAPED',
  ],
  [
    'another root in a nested namespace',
    'unshare -Urm sh -c "mount --bind /proc/1/root /mnt && ls /mnt/root" && echo ESCAPED',
  ],
  ['typing into the terminal', call(16, 0, 0x5412, "b'x'")],
  ['protection from the lack of memory', 'echo -900 > /proc/self/oom_score_adj && echo ESCAPED'],
  ['the pattern of dumps', 'echo "|/workspace/x" > /proc/sys/kernel/core_pattern && echo ESCAPED'],
  ['devices and drivers', 'ls /sys/devices /sys/kernel && echo ESCAPED'],
  ['the log of the kernel', 'dmesg | grep -q . && echo ESCAPED'],
  [
    'priority over others',
    'nice -n -10 true 2>&1 | grep -q cannot || { [ "$(nice -n -10 nice)" -lt 0 ] && echo ESCAPED; }',
  ],
  [
    'the control group left',
    'for f in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do echo 0 > $f && echo ESCAPED; done',
  ],
]

const RESOURCES: readonly Row[] = [
  ['a fork bomb', ':(){ :|:& };: ; sleep 1; echo still here'],
  [
    'a file without end',
    'head -c 3000000000 /dev/zero > big; [ "$(stat -c %s big)" -gt 2147483648 ] && echo ESCAPED; rm -f big',
  ],
  ['/tmp filled', 'head -c 400000000 /dev/zero > /tmp/big && echo ESCAPED; rm -f /tmp/big'],
  ['/dev/shm filled', 'head -c 400000000 /dev/zero > /dev/shm/big && echo ESCAPED; rm -f /dev/shm/big'],
  ['/run filled', 'head -c 400000000 /dev/zero > /run/big && echo ESCAPED; rm -f /run/big'],
  ['a dump of memory', 'sh -c "kill -SEGV \\$\\$"; ls core* && echo ESCAPED'],
]

for (const [group, rows] of Object.entries({ FILES, PROCESSES, NETWORK, KERNEL })) {
  sandboxed(`no way out: ${group.toLowerCase()}`, async () => {
    const { session, fill } = await lentSandbox(['--network', 'list'])
    const failures: string[] = []
    for (const [name, script] of rows) {
      const { output, outcome } = await session.run(`( ${fill(script)} ) 2>&1`, { hardMs: 30_000 })
      if (outcome.state !== 'ended' || output.includes('ESCAPED')) failures.push(`${name}: ${outcome.state} ${output}`)
    }
    expect(failures).toEqual([])
    expect(rows.length).toBeGreaterThan(10)
  })
}

sandboxed('no way out: resources, and the session works on', async () => {
  const { session, fill } = await lentSandbox(['--network', 'none', '--processes', '100'])
  for (const [name, script] of RESOURCES) {
    const { output, outcome } = await session.run(`( ${fill(script)} ) 2>&1`, { hardMs: 60_000 })
    expect({ name, isOut: output.includes('ESCAPED'), state: outcome.state }).toEqual({
      name,
      isOut: false,
      state: 'ended',
    })
    // Whether the shell that killed all others lives to tell its own end, or not: what comes next is run, in a new session.
    await session.run('old=old; kill -9 -1', { hardMs: 20_000 })
    const next = await session.run('echo alive $old', { hardMs: 60_000 })
    expect({ name, state: next.outcome.state }).toEqual({ name, state: 'ended' })
    expect(next.output).toMatch(/alive\n$/)
  }
})

sandboxed('a session that is full of programs which start each other is left for a new one', async () => {
  const { session } = await lentSandbox(['--network', 'none', '--processes', '60'])
  await session.run('old=old; :(){ :|:& };: ; sleep 1', { hardMs: 60_000 })
  const next = await session.run('ls / | wc -l > count; echo alive $old', { hardMs: 60_000 })
  expect(next.outcome.state).toBe('ended')
  expect(next.output).toMatch(/alive\n$/)
  expect(next.outcome.remarks).toEqual([expect.stringContaining('all the processes that a session may have')])
  expect((await session.run('echo again')).outcome).toMatchObject({ state: 'ended', remarks: [] })
})

async function lentSandbox(more: readonly string[]) {
  const { service, runner, folder } = await startRunner(['--isolation', 'bwrap', ...more])
  const secrets = join(folder, 'c2', 'workspace')
  mkdirSync(secrets, { recursive: true })
  writeFileSync(join(secrets, 'secret'), 'ESCAPED\n', { mode: 0o644 })
  const session = await service.open('c1')
  await session.push()
  const fill = (script: string) =>
    script
      .replaceAll('FOLDER', folder)
      .replaceAll('RUNNER_PID', String(runner.child.pid))
      .replaceAll('RUNNER_EXE', process.execPath)
      .replaceAll('SERVICE_PORT', String(service.port))
  return { session, fill, service, folder }
}

sandboxed('memory and disk of a conversation are bounded, and its folder can always be erased', async () => {
  const { session, service, folder } = await lentSandbox(['--network', 'none', '--memory', '200M', '--disk', '50M'])
  const memory = await session.run(
    'python3 -c "x = bytearray(900_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1\nimport time; time.sleep(60)"',
  )
  // By the kernel where the runner has control groups, else by the runner itself.
  expect(memory.outcome.state).toMatch(/^(ended|killed)$/)
  expect(memory.outcome.exitCode).toBe(137)
  expect(memory.outcome.remarks).toEqual([expect.stringContaining('bytes of memory')])
  const disk = await session.run('mkdir node_modules; head -c 100000000 /dev/zero > node_modules/big; sleep 60')
  expect(disk.outcome).toMatchObject({ state: 'killed', remarks: [expect.stringContaining('bytes of disk')] })
  await session.run(
    String.raw`rm -r node_modules; mkdir -p shut/in; touch shut/in/x "$(printf 'shut/\377')"; mkdir "$(printf 'shut/\376')"; chmod 0 shut/in shut; ln -s / root; mkdir -p $(printf 'd/%.0s' $(seq 1 400)); chmod 555 .`,
  )
  await service.pool?.call('conversation/close', { conversation: 'c1', erase: true })
  expect(existsSync(join(folder, 'c1'))).toBe(false)
  expect(existsSync(join(folder, 'c2'))).toBe(true)
})

sandboxed(
  'a busy loop, a fork bomb and a memory hog of one conversation leave the runner and the others at work',
  async () => {
    const { session, service } = await lentSandbox(['--network', 'none', '--memory', '300M', '--processes', '100'])
    const by = service.hello?.runner.limits
    expect(by).toMatchObject({ processes: 'kernel', disk: 'watched' })
    expect(['kernel', 'nice']).toContain((by as { cpu: string }).cpu)
    const other = await service.open('c3')
    await other.push()
    const hog = `/usr/bin/python3 -c "x = bytearray(900_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1"`
    const { key } = await session.start(
      `for i in 1 2 3 4; do while :; do :; done & done; (while :; do ${hog}; done) 2> /dev/null & echo busy; :(){ :|:& };: 2> /dev/null; sleep 600`,
    )
    await session.until(() => session.outputOf(key).includes('busy'))
    for (let count = 0; count < 5; count++) {
      const { output, outcome } = await other.run('ls / | wc -l > n; echo done')
      expect([outcome.state, output]).toEqual(['ended', 'done\n'])
    }
    expect(session.calls.get(key)?.outcome).toBeNull()
  },
)

sandboxed('variables of a tool server reach the server, and never the program that makes its sandbox', async () => {
  const { session } = await lentSandbox(['--network', 'none'])
  const line = 'echo "{\\"value\\":\\"$LD_PRELOAD $PLAIN\\"}"'
  const env = { LD_PRELOAD: '/workspace/evil.so', PLAIN: 'two words', BASH_ENV: '/workspace/evil.sh' }
  const launch = programLaunch(
    { command: 'sh', args: ['-c', line], env },
    {
      folders: { workspace: '/w', home: '/h', run: '/r' },
      plan: { isolation: 'bwrap', network: 'none', limits: LIMITS, idleMs: null, browserIdleMs: null },
    },
  )
  expect(Object.keys(launch.env).filter((name) => ['LD_PRELOAD', 'BASH_ENV', 'PLAIN'].includes(name))).toEqual([])
  // What the program in front does with them, as the sandbox's shell does it.
  const source = launch.args.at(-1) ?? ''
  const { output } = await session.run(
    `${Object.entries(launch.env)
      .filter(([name]) => name.startsWith('BWENV_'))
      .map(([name, value]) => `${name}='${value}'`)
      .join(' ')} bash -c '${source.replaceAll("'", `'\\''`)}' 2> /dev/null`,
  )
  expect(output).toBe('{"value":"/workspace/evil.so two words"}\n')
})

const LIMITS = { diskBytes: 1e9, memoryBytes: 1e9, cpus: 1, processes: 100, fileBytes: 2 ** 31, tmpBytes: 2 ** 20 }
