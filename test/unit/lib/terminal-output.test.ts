// What people's terminals obey, and what is left of it. Each row is cut at every byte: where the chunks end makes no difference.

import { expect, test } from 'vitest'
import { pastedBytes, TerminalOutput } from '../../../src/lib/terminal-output.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const bytesOf = (text: string | number[]) => (typeof text === 'string' ? encoder.encode(text) : new Uint8Array(text))

function shown(...chunks: Uint8Array[]): string {
  const output = new TerminalOutput()
  return chunks.map((chunk) => decoder.decode(output.push(chunk))).join('')
}

/** What a program writes, what acts in it, and what is shown. */
const ROWS: readonly (readonly [string, string | number[], string])[] = [
  ['a title', 'a\x1b]0;owned\x07b', 'ab'],
  ['a title that ends with ST', 'a\x1b]2;owned\x1b\\b', 'ab'],
  ['a title by C1 characters', 'a\x9d0;owned\x9cb', 'ab'],
  ['the clipboard', 'a\x1b]52;c;cm0gLXJmIC8=\x07b', 'ab'],
  ['reading the clipboard', 'a\x1b]52;c;?\x1b\\b', 'ab'],
  ['a link', 'a\x1b]8;;https://evil.test/\x1b\\text\x1b]8;;\x1b\\b', 'atextb'],
  ['the palette', 'a\x1b]4;1;#ffffff\x07\x1b]10;#000\x07\x1b]11;?\x07\x1b]104\x07b', 'ab'],
  ['a notification and a shell mark', 'a\x1b]9;call me\x07\x1b]777;notify;x;y\x07\x1b]133;A\x07b', 'ab'],
  ['a file for the terminal to store', 'a\x1b]1337;File=name=eA==;inline=0:cm0=\x07b', 'ab'],
  ['DECRQSS', 'a\x1bP$q"p\x1b\\b', 'ab'],
  ['DECRQSS by C1', 'a\x90$qm\x9cb', 'ab'],
  ['a question for terminfo', 'a\x1bP+q544e\x1b\\b', 'ab'],
  ['a user key that is defined', 'a\x1bP1;1|17/726d\x1b\\b', 'ab'],
  ['APC, PM and SOS', 'a\x1b_Gx\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d\x9fx\x9c\x9ex\x9c\x98x\x9ce', 'abcde'],
  ['device attributes', 'a\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ\x9bcb', 'ab'],
  ['status and place of the cursor', 'a\x1b[5n\x1b[6n\x1b[?6n\x1b[?996nb', 'ab'],
  ['the version', 'a\x1b[>q\x1b[>0qb', 'ab'],
  ['the answerback', 'a\x05b', 'ab'],
  ['modes that are asked for', 'a\x1b[?2004$p\x1b[4$pb', 'ab'],
  ['a checksum of the screen', 'a\x1b[1;1;1;1;10;10*yb', 'ab'],
  ['parameters and presentation', 'a\x1b[x\x1b[1x\x1b[2$wb', 'ab'],
  ['windows that move, report and name themselves', 'a\x1b[3;0;0t\x1b[18t\x1b[21t\x1b[22;0tb', 'ab'],
  ['printing', 'a\x1b[5i\x1b[?5i\x1b[ib', 'ab'],
  ['how keys are coded', 'a\x1b[>4;2m\x1b[?u\x1b[>1u\x1b[=1;1ub', 'ab'],
  ['focus, pastes and the width of the window', 'a\x1b[?1004h\x1b[?2004h\x1b[?3h\x1b[?9001hb', 'ab'],
  ['one mode among others', 'a\x1b[?25;1004;1049hb', 'a\x1b[?25;1049hb'],
  ['modes that are stored', 'a\x1b[?1049s\x1b[?1049rb', 'ab'],
  ['another coding of characters', 'a\x1b%@\x1b%Gb', 'ab'],
  ['locking shifts and single ones', 'a\x1bn\x1b~\x1bN\x1bO\x8e\x8fb', 'ab'],
  ['a repeat without end', 'a\x1b[99999bb', 'a\x1b[500bb'],
  ['numbers without end', `a\x1b[${'9'.repeat(200)}mb\x1b[${'1;'.repeat(100)}mc`, 'abc'],
  ['a sequence in a sequence', 'a\x1b[3\x1b]0;x\x071mb', 'a1mb'],
  ['a control character in a sequence', 'a\x1b[3\n1mb', 'a\x1b[31mb'],
  ['a sequence that is called off', 'a\x1b[3\x181mb\x1b]0;x\x1ac', 'a1mbc'],
  ['a string that ends with another sequence', 'a\x1b]0;x\x1b[31mb', 'a\x1b[31mb'],
  ['a character of the title that has the byte of ST', 'a\x1b]0;✜ x\x07b', 'ab'],
  [
    'bytes that are no UTF-8',
    [0x61, 0x9b, 0x63, 0xc1, 0x9b, 0xe0, 0x82, 0x9b, 0x62],
    'a\ufffdc\ufffd\ufffd\ufffd\ufffd\ufffdb',
  ],
  ['a character that is cut off by a sequence', [0x61, 0xe2, 0x1b, 0x5b, 0x63, 0x62], 'a\ufffdb'],
  ['NUL, DEL and others that draw nothing', 'a\x00\x01\x06\x10\x13\x1c\x1f\x7fb', 'ab'],
  ['highlighting by the mouse', 'a\x1b[1;2;3;4;5T\x1b[2Tb', 'a\x1b[2Tb'],
]

for (const [name, written, left] of ROWS) {
  test(`a terminal is not made to act by: ${name}`, () => {
    const bytes = bytesOf(written)
    expect(shown(bytes)).toBe(left)
    for (let at = 1; at < bytes.length; at++) {
      expect([at, shown(bytes.subarray(0, at), bytes.subarray(at))]).toEqual([at, left])
    }
    expect(shown(...[...bytes].map((byte) => new Uint8Array([byte])))).toBe(left)
  })
}

/** Of vim, less, htop and shells. */
const DRAWN = [
  'plain text\r\n\ttab\b\x07',
  '\x1b[1;38;5;200;48;2;1;2;3m colours \x1b[0m\x1b[4:3m\x1b[m',
  '\x1b[H\x1b[2J\x1b[3J\x1b[10;20H\x1b[K\x1b[1K\x1b[?2K\x1b[5A\x1b[B\x1b[3C\x1b[D\x1b[E\x1b[F\x1b[7G\x1b[4d',
  '\x1b[2;24r\x1b[3L\x1b[3M\x1b[4P\x1b[4@\x1b[2S\x1b[5X\x1b[3g\x1b[r\x1bM\x1bD\x1bE\x1bH',
  '\x1b7\x1b8\x1b[s\x1b[u\x1b=\x1b>\x1b(0lqqk\x1b(B\x0e\x0f',
  '\x1b[?1049h\x1b[?25l\x1b[?1h\x1b[?1002h\x1b[?1006h\x1b[?7h\x1b[4l\x1b[ q\x1b[2 q\x1b[!p\x1bc',
  'Grüße 世界 🧪 ✜ \u00a0\u202e',
]

test('what draws comes through as it was, whole and byte by byte', () => {
  for (const text of DRAWN) {
    const bytes = bytesOf(text)
    expect(shown(bytes)).toBe(text)
    expect(shown(...[...bytes].map((byte) => new Uint8Array([byte])))).toBe(text)
  }
})

test('what is not decided yet is counted, so that a reader who goes on from there misses nothing', () => {
  const text = 'aé\x1b]0;x\x07b\x1b[31mc'
  const bytes = bytesOf(text)
  for (let at = 0; at <= bytes.length; at++) {
    const first = new TerminalOutput()
    const before = decoder.decode(first.push(bytes.subarray(0, at)))
    expect([at, before + shown(bytes.subarray(at - first.held))]).toEqual([at, 'aéb\x1b[31mc'])
  }
})

test('a string without an end hides a megabyte and no more', () => {
  const output = new TerminalOutput()
  output.push(bytesOf('\x1b]'))
  expect(output.push(new Uint8Array(1024 * 1024).fill(0x61)).length).toBe(0)
  expect(decoder.decode(output.push(bytesOf('xy')))).toBe('y')
})

test('the paste that a program asked for is known, until it is reset', () => {
  const output = new TerminalOutput()
  for (const [written, isMarked] of [
    ['\x1b[?2004h', true],
    ['\x1b[?1;2004l', false],
    ['\x1b[?2004h\x1bc', false],
    ['\x1b[?2004h', true],
    ['\x1b[!p', false],
  ] as const) {
    output.push(bytesOf(written))
    expect(output.isPasteMarked).toBe(isMarked)
  }
})

test('a paste holds no keys, and cannot end its own marks', () => {
  const pasted = (text: string, isMarked: boolean) => decoder.decode(pastedBytes(text, isMarked))
  expect(pasted('ls\x1b[201~\nrm -rf ~\n', true)).toBe('\x1b[200~ls[201~\rrm -rf ~\r\x1b[201~')
  expect(pasted('a\x03\x04\x1a\x1b[A\x9b201~\x7fb\r\nc\td 世界', false)).toBe('a[A201~b\rc\td 世界')
})
