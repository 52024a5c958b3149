// A model's words in the places that code's words hold, and the words of a report whose model failed.

import { fill, labelsOf } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { Told } from './model-narrative.ts'
import type { Narrative } from './narrative.ts'
import { phrasesOf } from './phrases.ts'
import { followed } from './sentences.ts'

type Context = { language: ReportLanguage; sampleNotice: string | null; action: string | null }

/** Code's narrative with the model's words in it; what the model left empty keeps code's. */
export function toldNarrative(narrative: Narrative, told: Told, context: Context): Narrative {
  const { language } = context
  const { texts } = told
  if (texts === null) return { ...narrative, summary: failedSummary(narrative, told, language) }
  const guard = narrative.guardReason
  return {
    ...narrative,
    oneSentence: texts.one_sentence ?? narrative.oneSentence,
    summary: toldSummary(narrative, texts.analysis_summary, context),
    momentum: texts.technical_analysis ?? narrative.momentum,
    averages: texts.ma_analysis ?? narrative.averages,
    volume: texts.volume_analysis ?? narrative.volume,
    fundamental: texts.fundamental_analysis ?? narrative.fundamental,
    newsSummary: texts.news_summary ?? narrative.newsSummary,
    sentiment: texts.market_sentiment ?? narrative.sentiment,
    sector: texts.sector_position ?? narrative.sector,
    shortTerm: texts.short_term_outlook,
    mediumTerm: texts.medium_term_outlook,
    earningsOutlook: texts.earnings_outlook,
    catalysts: texts.positive_catalysts.length > 0 ? texts.positive_catalysts : narrative.catalysts,
    risks: risksOf(narrative, texts.risk_alerts, guard),
    noPosition: texts.advice_without_position ?? narrative.noPosition,
    hasPosition: texts.advice_with_position ?? narrative.hasPosition,
    limitations: [...narrative.limitations, ...notesOf(told, context)],
  }
}

/** The reason of a guard stays among the risks whoever writes them. */
function risksOf(narrative: Narrative, risks: string[], guard: string | null): string[] {
  if (risks.length === 0) return narrative.risks
  return guard === null ? risks : [...risks, guard]
}

function toldSummary(narrative: Narrative, summary: string | null, { language, sampleNotice }: Context): string {
  if (summary === null) return narrative.summary
  const stop = language === 'zh' ? '。' : '.'
  const notice = sampleNotice === null ? '' : followed(sampleNotice)
  return narrative.guardReason === null
    ? `${notice}${summary}`
    : `${notice}${followed(summary)}${narrative.guardReason}${stop}`
}

function failedSummary({ summary }: Narrative, { runs }: Told, language: ReportLanguage): string {
  const fault = runs.at(-1)?.error_type
  if (!fault) return summary
  const phrases = phrasesOf(language)
  const { codeMade } = labelsOf(language)
  const sentence = fill(phrases.modelFailed, { fault: phrases.modelFault[fault] })
  return summary.endsWith(codeMade)
    ? `${summary.slice(0, -codeMade.length)}${sentence}${codeMade}`
    : `${followed(summary)}${sentence}`
}

function notesOf({ figures, action }: Told, { language, action: computed }: Context): string[] {
  const phrases = phrasesOf(language)
  const { checked, corrected, struck } = figures
  const differs = action !== null && action !== computed
  return [
    ...(struck + corrected > 0 ? [fill(phrases.figuresStruck, { checked, corrected, struck })] : []),
    ...(differs ? [fill(phrases.modelDiffers, { action: labelsOf(language).action[action] })] : []),
  ]
}
