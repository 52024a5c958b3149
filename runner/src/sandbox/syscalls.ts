// System calls that are not limited by the sandbox, refused by a filter that the sandbox is started with. Processes
// inherit the kernel's keyrings, so the keys of the user who started the runner would be readable; file systems mounted
// in a nested namespace, io_uring, BPF and similar give access to memory and kernel functions without limits.

/** Numbers of x86-64, of 32-bit x86 (which runs on the same kernel), and of arm64. */
const REFUSED: readonly (readonly [name: string, x64: number, x86: number, arm64: number])[] = [
  ['add_key', 248, 286, 217],
  ['request_key', 249, 287, 218],
  ['keyctl', 250, 288, 219],
  ['bpf', 321, 357, 280],
  ['perf_event_open', 298, 336, 241],
  ['userfaultfd', 323, 374, 282],
  ['io_uring_setup', 425, 425, 425],
  ['io_uring_enter', 426, 426, 426],
  ['io_uring_register', 427, 427, 427],
  ['mount', 165, 21, 40],
  ['umount2', 166, 52, 39],
  ['pivot_root', 155, 217, 41],
  ['open_tree', 428, 428, 428],
  ['move_mount', 429, 429, 429],
  ['fsopen', 430, 430, 430],
  ['fsconfig', 431, 431, 431],
  ['fsmount', 432, 432, 432],
  ['fspick', 433, 433, 433],
  ['mount_setattr', 442, 442, 442],
  ['kexec_load', 246, 283, 104],
  ['init_module', 175, 128, 105],
  ['finit_module', 313, 350, 273],
  ['open_by_handle_at', 304, 342, 265],
]
/** The call that inserts input into a terminal, identified by its second argument. */
const IOCTL = { x64: 16, x86: 54, arm64: 29 } as const
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

type Machine = 'x64' | 'x86' | 'arm64'
const AUDIT: Readonly<Record<Machine, number>> = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7 }
/** The instruction sets that a machine can run. */
const RUNS: Readonly<Record<string, readonly Machine[]>> = { x64: ['x64', 'x86'], arm64: ['arm64'] }

// The kernel's classic BPF: load a word, compare, return.
const LOAD = 0x20
const EQUAL = 0x15
const AT_LEAST = 0x35
const RETURN = 0x06
const [NUMBER_AT, MACHINE_AT, SECOND_ARGUMENT_AT] = [0, 4, 24]
const ALLOW = 0x7fff0000
const ERRNO = 0x00050000
const EPERM = ERRNO | 1
/** The error of a kernel without the call: libraries then use an alternative. */
const ENOSYS = ERRNO | 38
const X32_CALLS = 0x40000000

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** In the format of `bwrap --seccomp`; null for an unknown architecture. */
export function syscallFilter(arch: string): Buffer | null {
  const machines = RUNS[arch]
  if (machines === undefined) return null
  const program: Instruction[] = [
    [LOAD, 0, 0, MACHINE_AT],
    ...machines.flatMap((machine) => {
      const part = filterOf(machine)
      return [[EQUAL, 0, part.length, AUDIT[machine]] as const, ...part]
    }),
    [RETURN, 0, 0, ENOSYS],
  ]
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  })
  return bytes
}

/** For one architecture; every path ends with a return. */
function filterOf(machine: Machine): Instruction[] {
  const column = { x64: 1, x86: 2, arm64: 3 } as const
  return [
    [LOAD, 0, 0, NUMBER_AT],
    ...(machine === 'x64'
      ? ([
          [AT_LEAST, 0, 1, X32_CALLS],
          [RETURN, 0, 0, ENOSYS],
        ] as const)
      : []),
    ...REFUSED.flatMap((row) => refusal(row[column[machine]], row[0].startsWith('io_uring') ? ENOSYS : EPERM)),
    [EQUAL, 0, 4, IOCTL[machine]],
    [LOAD, 0, 0, SECOND_ARGUMENT_AT],
    [EQUAL, 1, 0, TIOCSTI],
    [EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ]
}

const refusal = (number: number, answer: number): Instruction[] => [
  [EQUAL, 0, 1, number],
  [RETURN, 0, 0, answer],
]
