// Commands on a runner against the same on the machine itself: an empty command, the workspace on its way there and back, much
// output, and what all of it takes of memory on both sides. A slice is a few commands, because one alone is a matter of luck.

import type { BashCalls } from '../bash-process.ts'
import { isolation, LentConversation, lend } from '../lent-machine.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { median } from '../stats.ts'
import { peakRssWhile } from '../usage.ts'

const FILES = 2_000
const FILE_BYTES = 5_000
const FOLDERS = 350
const CHANGED = 10
const COMMANDS = 9
const BACK_MB = 50
const OUTPUT_MB = 100

const on = `on a runner (${isolation})`
const plain = (value: number): Sample => ({ value, clientCpu: null, serverMicros: null, waited: null })

export async function emptyCommands(stage: Stage): Promise<Measurement[]> {
  const lent = await lend(stage)
  const conversation = await LentConversation.open(lent)
  const bash = stage.startProgram<BashCalls>('bash-process.ts')
  return [
    {
      ...{ row: 'runner-command', what: `an empty command ${on}`, unit: 'ms' },
      ours: () => typical(() => conversation.run(':')),
      baseline: () => typical(() => bash.call('run', ':')),
    },
  ]
}

export async function runnerSync(stage: Stage): Promise<Measurement[]> {
  const lent = await lend(stage)
  const full = await LentConversation.open(lent)
  const empty = await LentConversation.open(lent)
  await full.run(MAKE_FILES)
  await empty.run(':')
  const bash = stage.startProgram<BashCalls>('bash-process.ts')
  await bash.call('run', MAKE_FILES)
  const change = `for i in $(seq 1 ${CHANGED}); do echo $RANDOM >> d$i/f$i; done`
  const row = 'runner-files'
  const nothing = () => typical(() => empty.run(':'))
  return [
    {
      ...{ row, what: `${FILES} files to a new runner, and copied`, unit: 'ms' },
      ours: () => toNewRunner(full),
      baseline: async () => plain((await bash.call('run', 'to=copy-$EPOCHREALTIME; mkdir $to && cp -r d* $to')).ms),
    },
    {
      ...{ row, what: `a command that changes none of ${FILES} files, and one without files`, unit: 'ms' },
      ours: () => typical(() => full.run(':')),
      baseline: nothing,
    },
    {
      ...{ row, what: `one that changes ${CHANGED} of them`, unit: 'ms' },
      ours: () => typical(() => full.run(change)),
      baseline: nothing,
    },
    {
      ...{ row, what: `${BACK_MB} MB of new files back, and made`, unit: 'ms' },
      ours: () => broughtBack(empty),
      baseline: async () => plain((await bash.call('run', `${makeLarge('../large')}; rm -r ../large`)).ms),
      restMs: 1_000,
    },
  ]
}

export async function runnerOutput(stage: Stage): Promise<Measurement[]> {
  const lent = await lend(stage)
  const conversation = await LentConversation.open(lent)
  await conversation.run(':')
  const command = `yes 'a line of output as programs write them' | head -c ${OUTPUT_MB}000000`
  const bash = stage.startProgram<BashCalls>('bash-process.ts')
  const row = 'runner-output'
  const speed = async (ms: Promise<{ ms: number }>) => plain((OUTPUT_MB * 1000) / (await ms).ms)
  /** Of both sides in one command: a target for the larger one holds for both. */
  let grown = { more: 0, less: 0 }
  const grow = async () => {
    const [runner, service] = await growthOfBoth([lent.pid, lent.worker.runtime], () => conversation.run(command))
    grown = { more: Math.max(runner, service), less: Math.min(runner, service) }
    return plain(grown.more)
  }
  return [
    {
      ...{ row, what: `${OUTPUT_MB} MB of output, MB`, unit: '/s' },
      ours: () => speed(conversation.run(command)),
      baseline: () => speed(bash.call('run', `${command} | tail -c 1000`)),
    },
    {
      ...{ row, what: 'growth of the runner or the service, the larger one, and the other' },
      ...{ unit: 'MiB', isErratic: true },
      ours: grow,
      baseline: async () => plain(grown.less),
    },
  ]
}

/** With its tests in its tarball, and `tape`, which runs them. */
const PACKAGE = 'shell-quote@1.4.3'
/** Both sides run the machine's programs, whatever the benchmark itself runs on. */
const MACHINES = 'export PATH=/usr/local/bin:/usr/bin:/bin NO_UPDATE_NOTIFIER=1'

/** `npm test` of a package of the registry, installed once on this machine and given to the conversation as it is. */
export async function packageTests(stage: Stage): Promise<Measurement[]> {
  const lent = await lend(stage)
  const conversation = await LentConversation.open(lent)
  const bash = stage.startProgram<BashCalls>('bash-process.ts')
  const get = `npm pack ${PACKAGE} --silent > /dev/null && tar xf *.tgz && rm *.tgz && cd package && npm install --silent --no-audit`
  await bash.call('run', `${MACHINES}; (${get}) >&2 && tar czf all.tgz package`)
  const { output } = await bash.call('run', 'base64 -w 0 all.tgz')
  await conversation.upload('all.tgz', new Uint8Array(Buffer.from(output, 'base64')))
  await conversation.run('tar xf all.tgz && rm all.tgz')
  const test = `${MACHINES}; (cd package && npm test --silent > /dev/null)`
  return [
    {
      ...{ row: 'runner-tests', what: `npm test of ${PACKAGE} ${on}`, unit: 'ms' },
      ours: async () => plain((await conversation.run(test)).ms),
      baseline: async () => plain((await bash.call('run', test)).ms),
    },
  ]
}

const MAKE_FILES = `body=$(head -c ${FILE_BYTES - 10} /dev/zero | tr '\\0' x); for i in $(seq 1 ${FILES}); do
d=d$((i % ${FOLDERS})); [ -d $d ] || mkdir $d; echo "$i $body" > $d/f$i; done`

const makeLarge = (folder: string): string =>
  `mkdir -p ${folder}; for i in $(seq 1 ${BACK_MB}); do head -c 1000000 /dev/urandom > ${folder}/$i; done`

async function growthOfBoth(
  [runner, service]: readonly [number | null, number | null],
  work: () => Promise<unknown>,
): Promise<[number, number]> {
  let ofRunner = { startMiB: 0, peakMiB: 0 }
  const ofService = await peakRssWhile(service, async () => {
    ofRunner = await peakRssWhile(runner, work)
  })
  return [ofRunner.peakMiB - ofRunner.startMiB, ofService.peakMiB - ofService.startMiB]
}

/** The half of so many. */
async function typical(run: () => Promise<{ ms: number }>): Promise<Sample> {
  const times: number[] = []
  for (let count = 0; count < COMMANDS; count++) times.push((await run()).ms)
  return plain(median(times))
}

/** A copy of the conversation with its files, whose first command has to bring all of them. */
async function toNewRunner(full: LentConversation): Promise<Sample> {
  // Not put away: names that were just deleted slow down whoever makes new ones on some file systems.
  const fork = await full.fork()
  const { ms, output } = await fork.run('find . -type f | wc -l')
  if (!output.includes(`"content":"${FILES}"`)) throw new Error(`not all files came: ${output.slice(0, 300)}`)
  return plain(ms)
}

async function broughtBack(conversation: LentConversation): Promise<Sample> {
  const { ms } = await conversation.run(makeLarge('large'))
  await conversation.run('rm -r large')
  return plain(ms)
}
