// The texts of a language.

import type { ReportLanguage } from '../schemas.ts'
import { analysis as enAnalysis, flow as enFlow, skills as enSkills, task as enTask } from './en/analysis.ts'
import { consistency as enConsistency } from './en/consistency.ts'
import { beside as enBeside, evidence as enEvidence, outlook as enOutlook, report as enReport } from './en/report.ts'
import { review as enReview } from './en/review.ts'
import { analysis as koAnalysis, flow as koFlow, skills as koSkills, task as koTask } from './ko/analysis.ts'
import { consistency as koConsistency } from './ko/consistency.ts'
import { beside as koBeside, evidence as koEvidence, outlook as koOutlook, report as koReport } from './ko/report.ts'
import { review as koReview } from './ko/review.ts'
import type { Texts } from './texts.ts'
import { analysis as zhAnalysis, flow as zhFlow, skills as zhSkills, task as zhTask } from './zh/analysis.ts'
import { consistency as zhConsistency } from './zh/consistency.ts'
import { beside as zhBeside, evidence as zhEvidence, outlook as zhOutlook, report as zhReport } from './zh/report.ts'
import { review as zhReview } from './zh/review.ts'

const BOOK: Record<ReportLanguage, Texts> = {
  zh: {
    inEnglish: 'Simplified Chinese',
    report: zhReport,
    analysis: zhAnalysis,
    consistency: zhConsistency,
    evidence: zhEvidence,
    outlook: zhOutlook,
    beside: zhBeside,
    skills: zhSkills,
    review: zhReview,
    task: zhTask,
    flow: zhFlow,
  },
  en: {
    inEnglish: 'English',
    report: enReport,
    analysis: enAnalysis,
    consistency: enConsistency,
    evidence: enEvidence,
    outlook: enOutlook,
    beside: enBeside,
    skills: enSkills,
    review: enReview,
    task: enTask,
    flow: enFlow,
  },
  ko: {
    inEnglish: 'Korean',
    report: koReport,
    analysis: koAnalysis,
    consistency: koConsistency,
    evidence: koEvidence,
    outlook: koOutlook,
    beside: koBeside,
    skills: koSkills,
    review: koReview,
    task: koTask,
    flow: koFlow,
  },
}

export function textsOf(language: ReportLanguage): Texts {
  return BOOK[language]
}

/** A template with its `{names}` replaced; a name without a value stays visible in the text. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
