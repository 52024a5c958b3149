// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, test } from 'vitest'
import { modelText } from '../../../src/agent/context/history.ts'
import type { Outcome } from '../../../src/agent/tools/tool.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { openToolSession } from './tool-session.ts'

const SHELL = 'execute_bash'
const exitCode = ({ extras }: Outcome) => (extras.metadata as { exit_code: number }).exit_code
const remark = ({ extras }: Outcome) => (extras.metadata as { suffix: string }).suffix

test('a session of calls: folder and variables last, the output is shown as it comes and kept with its end', async () => {
  const { call, prepare, shown, shell } = openToolSession()
  const { action } = prepare(SHELL, { command: 'ls', timeout: '5' })
  expect(action).toMatchObject({
    source: 'agent',
    action: 'run',
    timeout: 5,
    args: { command: 'ls', is_input: false, thought: '' },
  })
  expect(action.message).toBe('Running command: ls')
  const made = await call(SHELL, { command: 'mkdir -p shop && cd shop && export NAME="two words" && n=3 && echo made' })
  expect(made).toMatchObject({
    observation: 'run',
    source: 'agent',
    content: 'made',
    success: true,
    extras: { metadata: { exit_code: 0, working_dir: '/workspace/shop' }, hidden: false },
  })
  expect(made).not.toHaveProperty('cause')
  expect(shown.join('')).toBe('made\n')
  expect((await call(SHELL, { command: 'echo "$NAME $n $PWD"; false' })).content).toBe('two words 3 /workspace/shop')
  expect(shell().cwd).toBe('/workspace/shop')
  const failed = await call(SHELL, { command: 'grep -r absent . || exit 7' })
  expect([exitCode(failed), failed.success, failed.message]).toEqual([
    7,
    false,
    'Command `grep -r absent . || exit 7` executed with exit code 7.',
  ])
  expect(
    (
      await call(SHELL, {
        command: 'git init -q . && echo a > a && git add a && git commit -qm one && git log --format=%s',
      })
    ).content,
  ).toBe('one')
})

test('several lines are run as the script that they are: one observation, the last exit code', async () => {
  const { call, shell } = openToolSession()
  for (const [command, content] of [
    ['for i in 1 2; do\n  echo $i\ndone', '1\n2'],
    ['echo a\necho b', 'a\nb'],
    ['cat <<EOF\nx; y\n\nEOF\necho z', 'x; y\n\nz'],
    ['f() {\n echo in f\n}\nf', 'in f'],
    ['# a comment\na=1\n\necho $a \\\n  b', '1 b'],
    ['false\necho $?', '1'],
  ] as const) {
    const outcome = await call(SHELL, { command })
    expect([command, outcome.observation, outcome.content, exitCode(outcome)]).toEqual([command, 'run', content, 0])
  }
  const failed = await call(SHELL, { command: 'mkdir -p deep\ncd deep\necho first\nexit 3\necho never' })
  expect([failed.observation, failed.content, exitCode(failed)]).toEqual(['run', 'first', 3])
  expect(shell().cwd).toBe('/workspace/deep')
  const stopped = await call(SHELL, { command: 'set -e\necho one\nfalse\necho two' })
  expect([stopped.content, exitCode(stopped)]).toEqual(['one', 1])
  const broken = await call(SHELL, { command: 'echo a\necho "open' })
  expect([broken.observation, exitCode(broken)]).toEqual(['run', 2])
  expect(broken.content).toContain('unexpected EOF')
})

test('there is nothing that input could be for, and an empty call says so', async () => {
  const { call, refusal } = openToolSession()
  for (const args of [{ command: 'C-c', is_input: 'true' }, { command: 'y', is_input: true }, { command: ' ' }]) {
    const outcome = await call(SHELL, args)
    expect([outcome.observation, exitCode(outcome), outcome.content]).toEqual([
      'run',
      1,
      expect.stringMatching(/^ERROR: /),
    ])
  }
  expect(refusal(SHELL, {})).toContain('command: ')
  expect(refusal(SHELL, { command: 'ls', timeout: -1 })).toContain('timeout: ')
  expect(refusal(SHELL, { command: 'ls', is_input: 'maybe' })).toContain('is_input: ')
  expect(refusal(SHELL, { command: ['ls'] })).toContain('command: ')
})

test('what takes too long is stopped and what it wrote is kept; a stop of the user ends it at once', async () => {
  const stop = { onOutput: () => {} }
  const { call, shell } = openToolSession({ onOutput: () => stop.onOutput() })
  const limit = heldTimers(7_000)
  stop.onOutput = limit.goOff
  const late = await call(SHELL, { command: 'cd /tmp; echo begun; while true; do :; done; echo never', timeout: 7 })
  expect([exitCode(late), late.content.split('\n')[0]]).toEqual([124, 'begun'])
  expect(late.content).not.toContain('never')
  expect(remark(late)).toContain('stopped after at most 7 seconds')
  expect(shell().cwd).toBe('/tmp')
  const text = modelText({ ...late, cause: 1 })
  expect(text).toEqual([{ type: 'text', text: expect.stringContaining('[Command finished with exit code 124]') }])
  const controller = new AbortController()
  stop.onOutput = () => controller.abort()
  const stopped = await call(SHELL, { command: 'echo begun; while true; do sleep 0.01; done' }, controller.signal)
  expect([exitCode(stopped), stopped.content]).toEqual([130, 'begun'])
})

test('five megabytes of output lose their middle before they are kept anywhere', async () => {
  const { call } = openToolSession()
  const flood = await call(SHELL, {
    command: 'echo start; seq 1 800000; echo the end',
  })
  expect(flood.content.length).toBeLessThanOrEqual(30_000)
  expect(flood.content).toMatch(/^start\n1\n2\n[\s\S]*\n\[\.\.\. \d+ characters left out \.\.\.\]\n[\s\S]*\nthe end$/)
})

test('secrets are there for commands and never become part of the session that is stored', async () => {
  const { call, shell } = openToolSession({ secrets: { API_TOKEN: 's3cret-value', PIN: '1' } })
  expect((await call(SHELL, { command: 'echo "${#API_TOKEN} $PIN"' })).content).toBe('12 1')
  await call(SHELL, {
    command: 'export URL="https://x:$API_TOKEN@h/" COPY=$API_TOKEN KEPT=yes; plain=$API_TOKEN; n=11',
  })
  expect(JSON.stringify(shell())).not.toContain('s3cret-value')
  expect([shell().env.KEPT, shell().env.PIN, shell().variables.n]).toEqual(['yes', undefined, '11'])
  expect((await call(SHELL, { command: 'env | grep -c API_TOKEN' })).content).toBe('1')
  await call(SHELL, { command: 'export API_TOKEN=mine' })
  expect((await call(SHELL, { command: 'echo $API_TOKEN' })).content).toBe('mine')
})

test('a secret that the limit of the output would cut in two is hidden before it is cut', async () => {
  const key = Array.from({ length: 4_000 }, (_, i) => `line ${i} of a key`).join('')
  const secrets = { LONG_KEY: key, API_TOKEN: 's3cret-value' }
  const { call, shown } = openToolSession({ secrets, masked: Object.values(secrets) })
  const { content } = await call(SHELL, { command: 'echo "$LONG_KEY"; printf "s3cret"; printf -- "-value\\n"' })
  expect(content).not.toMatch(/of a key|s3cret|-value/)
  expect(shown.join('')).not.toMatch(/of a key|s3cret|-value/)
  // One that begins shortly before the place where the output is cut.
  const padded = await call(SHELL, { command: 'printf "%014990d" 0; printf "$API_TOKEN"; printf "%040000d" 0' })
  expect(padded.content).toMatch(/characters left out/)
  expect(padded.content).not.toMatch(/s3cr/)
})

test('the tools are told in their order, with parameters that say what is needed', () => {
  const { tools } = openToolSession()
  expect(tools.map(({ name }) => name).slice(0, 4)).toEqual(['execute_bash', 'think', 'finish', 'str_replace_editor'])
  expect(tools[0]?.description).toMatch(/NO PYTHON/)
  for (const { name, description, parameters } of tools) {
    expect([name, description.length > 50, parameters.type]).toEqual([name, true, 'object'])
    expect(JSON.stringify(parameters)).not.toContain('$schema')
  }
  expect(tools[0]?.parameters).toMatchObject({
    required: ['command'],
    properties: { command: { type: 'string' }, timeout: { type: 'number' } },
  })
})

test('thinking and finishing say what they are for', async () => {
  const { call, prepare, refusal } = openToolSession()
  expect(prepare('think', { thought: 'hm' }).action).toMatchObject({ action: 'think', args: { thought: 'hm' } })
  expect(await call('think', { thought: 'hm' })).toMatchObject({ observation: 'think', extras: {} })
  expect(prepare('finish', { message: 'All done' }).action).toEqual({
    source: 'agent',
    message: 'All done',
    action: 'finish',
    args: { final_thought: 'All done', outputs: {}, thought: '' },
  })
  expect(refusal('finish', { message: 3 })).toContain('message: ')
})
