import type { TaskTexts, Texts } from '../texts.ts'

export const task: TaskTexts = {
  again: (label, attempt) => `${label}：the last run was interrupted, attempt ${attempt}`,
  failed: (label) => `${label}：failed`,
  accepted: (code) => `Analysis queued: ${code}`,
  reading: (typed, name, code) => `"${typed}" was read as ${name} (${code})`,
  duplicate: (code) => `${code} is already being analysed`,
  batch: (accepted, duplicates) =>
    `${accepted} task${accepted === 1 ? '' : 's'} submitted, ${duplicates} duplicate${duplicates === 1 ? '' : 's'} skipped`,
  keyReused:
    'This Idempotency-Key was used for another request: send the same body to repeat that one, or a new key for a new request',
  stillRunning: (code) =>
    `The same request for ${code} is still being analysed; send it again with the same key in a while`,
  lost: (attempts) => `The analysis was interrupted ${attempts} times without getting any further and was given up`,
  timedOut: (stage, seconds) => `The analysis took longer than ${seconds} s and was stopped at the stage "${stage}"`,
  stageTimedOut: (stage, seconds) => `The stage "${stage}" got no further for ${seconds} s and was stopped`,
  cancelRequested: (label) => `${label}：being cancelled`,
  cancelled: (label) => `${label}：cancelled`,
  waitsForStorage: (label) => `${label}：the report is made and waits to be saved`,
  reviewAccepted: 'Market review queued',
  reviewDuplicate: 'A market review is already running; try again when it has ended',
  saving: 'saving the report',
  notSaved: 'The report was made but could not be saved',
  connected: 'Connected to the task stream',
}

export const flow: Texts['flow'] = {
  entry: 'Entry',
  data_source: 'Data sources',
  analysis: 'Analysis',
  artifact: 'Results',
  request: 'Request',
  task_queue: 'Task queue',
  pipeline: 'Analysis',
  context_pack: 'Evidence',
  llm: 'Model',
  history: 'Stored report',
  notification: 'Notification',
}
