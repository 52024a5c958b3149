// The service's own texts in a talk about reports, in each language. The page that shows them replaces messages with
// certain words by its own texts, so these words must not be used here.

import type { ReportLanguage } from '../schemas.ts'

export const CHAT_TOOLS = [
  'read_report',
  'list_reports',
  'get_quote',
  'get_daily_bars',
  'get_indicators',
  'search_news',
  'compare_stocks',
  'method_evidence',
] as const
export type ChatToolName = (typeof CHAT_TOOLS)[number]

type ChatTexts = {
  tool: Record<ChatToolName, string>
  stage: string
  thinking: string
  writing: string
  /** Remarks in an answer: a figure without a source, and a sentence that contradicts the data. */
  unbacked: string
  contradicted: string
  sources: string
  report: string
  /** Why a turn has no answer. */
  late: string
  stopped: string
  noAnswer: string
  unchecked: string
  found: string
  /** Refusals. */
  noModel: string
  busy: string
  full: string
  taken: string
  longContext: string
  noChannels: string
  dropped: (count: number) => string
}

export const CHAT_TEXTS: Record<ReportLanguage, ChatTexts> = {
  zh: {
    tool: {
      read_report: '分析报告',
      list_reports: '历史报告',
      get_quote: '行情',
      get_daily_bars: '日线',
      get_indicators: '技术指标',
      search_news: '新闻',
      compare_stocks: '个股对比',
      method_evidence: '方法回测',
    },
    stage: '正在查阅数据并回答',
    thinking: '正在思考',
    writing: '正在核对并写出回答',
    unbacked: '⚠ 查无依据',
    contradicted: '⚠ 与数据不符',
    sources: '数据来源',
    report: '报告',
    late: '本次回答用时超过上限，已停止。',
    stopped: '本次回答已停止。',
    noAnswer: '模型没有给出回答。',
    unchecked: '⚠ 本回答中的数字未能核对。',
    found: '已查到：',
    noModel: '尚未配置模型（no llm configured）：请先在设置中选择模型并填写密钥',
    busy: '上一条消息仍在回答中，请等待其结束',
    full: '此会话已达长度上限，请新建会话',
    taken: '此会话编号不可用，请新建会话',
    longContext: 'context 超过 32 KB',
    noChannels: '没有启用的通知渠道',
    dropped: (count) => `会话已达 500 个上限，最久未用的 ${count} 个已删除`,
  },
  en: {
    tool: {
      read_report: 'Report',
      list_reports: 'Earlier reports',
      get_quote: 'Quote',
      get_daily_bars: 'Daily bars',
      get_indicators: 'Indicators',
      search_news: 'News',
      compare_stocks: 'Comparison',
      method_evidence: 'Evidence of the method',
    },
    stage: 'Looking up the data to answer',
    thinking: 'Thinking',
    writing: 'Checking and writing the answer',
    unbacked: '⚠ not in the data',
    contradicted: '⚠ contradicts the data',
    sources: 'Sources',
    report: 'Report',
    late: 'The answer took longer than it may, and was stopped.',
    stopped: 'The answer was stopped.',
    noAnswer: 'The model gave no answer.',
    unchecked: '⚠ The figures of this answer could not be checked.',
    found: 'Found until then: ',
    noModel: 'There is no model yet (no llm configured): choose one in the settings, with its key',
    busy: 'The message before is still being answered; wait for its end',
    full: 'This talk has reached its length; begin a new one',
    taken: 'This session id cannot be used; begin a new talk',
    longContext: 'context is larger than 32 KB',
    noChannels: 'No notification channel is enabled',
    dropped: (count) => `There may be 500 talks: the ${count} that were unused the longest were deleted`,
  },
  ko: {
    tool: {
      read_report: '분석 보고서',
      list_reports: '이전 보고서',
      get_quote: '시세',
      get_daily_bars: '일봉',
      get_indicators: '기술 지표',
      search_news: '뉴스',
      compare_stocks: '종목 비교',
      method_evidence: '방법 검증',
    },
    stage: '데이터를 조회하여 답변하는 중',
    thinking: '생각하는 중',
    writing: '확인하고 답변을 작성하는 중',
    unbacked: '⚠ 데이터에 없음',
    contradicted: '⚠ 데이터와 다름',
    sources: '출처',
    report: '보고서',
    late: '답변이 제한 시간을 넘어 중지되었습니다.',
    stopped: '답변이 중지되었습니다.',
    noAnswer: '모델이 답변하지 않았습니다.',
    unchecked: '⚠ 이 답변의 수치는 확인하지 못했습니다.',
    found: '조회된 항목: ',
    noModel: '모델이 설정되지 않았습니다 (no llm configured): 설정에서 모델과 키를 지정하십시오',
    busy: '이전 메시지에 아직 답변하는 중입니다. 끝날 때까지 기다려 주십시오',
    full: '이 대화는 길이 제한에 도달했습니다. 새 대화를 시작하십시오',
    taken: '이 세션 id는 사용할 수 없습니다. 새 대화를 시작하십시오',
    longContext: 'context가 32 KB를 넘습니다',
    noChannels: '사용 중인 알림 채널이 없습니다',
    dropped: (count) => `대화는 500개까지입니다. 가장 오래 쓰지 않은 ${count}개를 삭제했습니다`,
  },
}

/** The name of a tool for users. */
export function toolLabel(tool: string, language: ReportLanguage): string {
  const known = CHAT_TOOLS.find((name) => name === tool)
  return known === undefined ? tool : CHAT_TEXTS[language].tool[known]
}
