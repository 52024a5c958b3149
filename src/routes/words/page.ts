// The words of what the existing analysis page calls besides the analysis itself.

import type { Words } from '../../http/document-words.ts'

const time = '2026-08-14T10:00:00.000000Z'

export const PAGE_WORDS = {
  'AuthStatus.authEnabled': ['Whether keys are needed', true],
  'AuthStatus.loggedIn': ['Whether this browser is signed in', true],
  'AuthStatus.passwordSet': ['Whether there is something to sign in with', true],
  'AuthStatus.passwordChangeable': ['Always false: keys are managed elsewhere', false],
  'AuthStatus.setupState': ['How far the sign-in is set up', 'enabled'],
  'PasswordLogin.password': ['An access key', 'bwk_0123456789abcdef_secret'],
  'PasswordLogin.passwordConfirm': ['Not read', null],
  'SetupCheck.key': ['Which part', 'stock_list'],
  'SetupCheck.title': ['Its name', 'Watchlist'],
  'SetupCheck.category': ['The tab of the settings that it belongs to', 'base'],
  'SetupCheck.required': ['Whether analyses wait for it', true],
  'SetupCheck.status': ['Its state', 'configured'],
  'SetupCheck.message': ['Its state as a sentence', 'The watchlist has 3 stocks'],
  'SetupCheck.next_step': ['What to do next; null where nothing is to be done', null],
  'SetupStatus.required_missing_keys': ['The required parts that need action', []],
  'SetupStatus.next_step_key': ['The first of them', null],
  'SetupStatus.checks': ['Each part, in the order in which it is set up'],
  'SchedulerStatus.enabled': ['Whether any schedule is on', true],
  'SchedulerStatus.running': ['Whether a slot is worked on now', false],
  'SchedulerStatus.schedule_times': ['The times of all that are on', ['18:00']],
  'SchedulerStatus.next_run_at': ['The nearest slot', time],
  'SchedulerStatus.last_run_at': ['The last slot that was run', time],
  'SchedulerStatus.last_success_at': ['The last one that began its analyses', time],
  'SchedulerStatus.last_error': ['Why the last failed one failed', null],
  'SchedulerStatus.last_skipped_at': ['The last one that was left out', null],
  'SchedulerStatus.last_skip_reason': ['Why it was left out', null],
  'SchedulerRun.accepted': ['Always true', true],
  'SchedulerRun.running': ['Always true', true],
  'ScreeningStatus.enabled': ['Always false', false],
  'ScreeningStatus.available': ['Always false', false],
  'ScreeningStatus.diagnostics': ['Why', { reason: 'Screening is not switched on' }],
} as const satisfies Words
