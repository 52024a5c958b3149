// Every row by its name, in the order in which they are measured and shown. What a row asks, and what it is held against,
// is told in its file and in docs/benchmarks.md.

import type { Measurement } from './rounds.ts'
import { agentStep, firstCall, firstToken } from './rows/agent.ts'
import { longTurn } from './rows/agent-long.ts'
import { alerts } from './rows/alerts.ts'
import { append } from './rows/append.ts'
import { batch, reports } from './rows/batch.ts'
import { creation } from './rows/creation.ts'
import { analysisFilter, conversationList, screening, secrets, settings } from './rows/database-reads.ts'
import { delivery } from './rows/drops.ts'
import { bursts, singleEvents, socketIoClients } from './rows/fan-out.ts'
import { gitChanges, gitDiff } from './rows/git.ts'
import { indicators } from './rows/indicators.ts'
import { limiter } from './rows/limiter.ts'
import { longConversation, replayed } from './rows/long.ts'
import { modelStream } from './rows/model-stream.ts'
import { nameResolving } from './rows/names.ts'
import { pipelined } from './rows/pipelined.ts'
import { postEvent } from './rows/post-event.ts'
import { objectReads, optionList } from './rows/reads.ts'
import { recovery } from './rows/recovery.ts'
import { emptyCommands, packageTests, runnerOutput, runnerSync } from './rows/runner.ts'
import { search } from './rows/search.ts'
import { longLoop, manyFiles, recursiveSearch } from './rows/shell.ts'
import { stalledClients } from './rows/stalled.ts'
import { eventStreams, taskList, taskStarts, taskThroughput } from './rows/tasks.ts'
import { uploads, zipDownload } from './rows/transfers.ts'
import type { Stage } from './stage.ts'

/** Measured by itself, without a stage. */
export const STARTUP = 'startup'

export const ROWS: Readonly<Record<string, (stage: Stage) => Promise<Measurement[]>>> = {
  P1: optionList,
  P2: objectReads,
  P3: postEvent,
  P4: append,
  P5: pipelined,
  P6: singleEvents,
  P7: bursts,
  P8: eventStreams,
  P9: delivery,
  P10: creation,
  P13: zipDownload,
  P11: firstToken,
  P12: modelStream,
  P14: gitChanges,
  P15: gitDiff,
  P16: indicators,
  P17: batch,
  P18: nameResolving,
  P19: recovery,
  P21: longConversation,
  P22: stalledClients,
  'socket-io': socketIoClients,
  replay: replayed,
  submit: taskStarts,
  tasks: taskThroughput,
  'task-list': taskList,
  search,
  upload: uploads,
  list: conversationList,
  settings,
  secrets,
  limiter,
  alerts,
  screening,
  analysis: reports,
  'analysis-filter': analysisFilter,
  'agent-first': firstCall,
  'agent-step': agentStep,
  'agent-long': longTurn,
  'shell-loop': longLoop,
  'shell-files': manyFiles,
  'shell-grep': recursiveSearch,
  'runner-command': emptyCommands,
  'runner-files': runnerSync,
  'runner-output': runnerOutput,
  'runner-tests': packageTests,
}

/** What they are held against is on the machine itself. */
export const WITHOUT_BASELINES: ReadonlySet<string> = new Set([
  'runner-command',
  'runner-files',
  'runner-output',
  'runner-tests',
])

export const ROW_NAMES: readonly string[] = [...Object.keys(ROWS), STARTUP]
