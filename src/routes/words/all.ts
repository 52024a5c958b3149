// The words of the whole document.

import type { Words } from '../../http/document-words.ts'
import { ACCOUNT_WORDS } from './accounts.ts'
import { ANALYSIS_WORDS, REPORT_WORDS } from './analysis.ts'
import { CONVERSATION_WORDS } from './conversations.ts'

export const WORDS: Words = { ...CONVERSATION_WORDS, ...ACCOUNT_WORDS, ...ANALYSIS_WORDS, ...REPORT_WORDS }
