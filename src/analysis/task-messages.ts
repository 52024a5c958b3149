// What the queue says about a task beyond the stages of its run, in the task's language.

import type { ReportLanguage } from '../reports/report.ts'

type Messages = {
  /** A run was lost and the task goes out again. */
  again: (label: string, attempt: number) => string
  failed: (label: string) => string
  accepted: (code: string) => string
  duplicate: (code: string) => string
  batch: (accepted: number, duplicates: number) => string
  lost: (attempts: number) => string
  timedOut: (stage: string, seconds: number) => string
  /** A stage got no further for so long. */
  stageTimedOut: (stage: string, seconds: number) => string
  cancelRequested: (label: string) => string
  cancelled: (label: string) => string
  /** The report is made and waits for the database. */
  waitsForStorage: (label: string) => string
  reviewAccepted: string
  reviewDuplicate: string
  /** The name of the last stage. */
  saving: string
  notSaved: string
  connected: string
}

const zh: Messages = {
  again: (label, attempt) => `${label}：上次执行中断，正在进行第 ${attempt} 次尝试`,
  failed: (label) => `${label}：分析失败`,
  accepted: (code) => `分析任务已加入队列：${code}`,
  duplicate: (code) => `股票 ${code} 正在分析中`,
  batch: (accepted, duplicates) =>
    duplicates === 0 ? `已提交 ${accepted} 个任务` : `已提交 ${accepted} 个任务，${duplicates} 个重复任务已跳过`,
  lost: (attempts) => `分析连续中断 ${attempts} 次且没有进展，已停止`,
  timedOut: (stage, seconds) => `分析超时：在“${stage}”阶段超过 ${seconds} 秒的时限`,
  stageTimedOut: (stage, seconds) => `分析超时：“${stage}”阶段 ${seconds} 秒内没有进展`,
  cancelRequested: (label) => `${label}：正在取消`,
  cancelled: (label) => `${label}：已取消`,
  waitsForStorage: (label) => `${label}：报告已生成，等待保存`,
  reviewAccepted: '大盘复盘任务已加入队列',
  reviewDuplicate: '大盘复盘正在执行中，请稍后再试',
  saving: '保存报告',
  notSaved: '报告已生成，但无法保存',
  connected: '已连接任务事件流',
}

const en: Messages = {
  again: (label, attempt) => `${label}：the last run was interrupted, attempt ${attempt}`,
  failed: (label) => `${label}：failed`,
  accepted: (code) => `Analysis queued: ${code}`,
  duplicate: (code) => `${code} is already being analysed`,
  batch: (accepted, duplicates) =>
    duplicates === 0
      ? `${accepted} task${accepted === 1 ? '' : 's'} submitted`
      : `${accepted} task${accepted === 1 ? '' : 's'} submitted, ${duplicates} duplicate${duplicates === 1 ? '' : 's'} skipped`,
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

const ko: Messages = {
  again: (label, attempt) => `${label}：이전 실행이 중단되어 ${attempt}번째로 시도합니다`,
  failed: (label) => `${label}：분석에 실패했습니다`,
  accepted: (code) => `분석 작업이 대기열에 추가되었습니다: ${code}`,
  duplicate: (code) => `${code} 종목은 이미 분석 중입니다`,
  batch: (accepted, duplicates) =>
    duplicates === 0
      ? `작업 ${accepted}건을 제출했습니다`
      : `작업 ${accepted}건을 제출했고 중복 작업 ${duplicates}건은 건너뛰었습니다`,
  lost: (attempts) => `분석이 진전 없이 ${attempts}번 연속 중단되어 종료했습니다`,
  timedOut: (stage, seconds) => `분석 시간 초과: "${stage}" 단계에서 제한 시간 ${seconds}초를 넘었습니다`,
  stageTimedOut: (stage, seconds) => `분석 시간 초과: "${stage}" 단계가 ${seconds}초 동안 진전이 없었습니다`,
  cancelRequested: (label) => `${label}：취소하는 중`,
  cancelled: (label) => `${label}：취소되었습니다`,
  waitsForStorage: (label) => `${label}：보고서를 만들었고 저장을 기다립니다`,
  reviewAccepted: '시황 리뷰 작업이 대기열에 추가되었습니다',
  reviewDuplicate: '시황 리뷰가 이미 실행 중입니다. 잠시 후 다시 시도하세요',
  saving: '보고서 저장',
  notSaved: '보고서를 만들었지만 저장하지 못했습니다',
  connected: '작업 이벤트 스트림에 연결되었습니다',
}

const MESSAGES: Record<ReportLanguage, Messages> = { zh, en, ko }

export function taskMessages(language: ReportLanguage): Messages {
  return MESSAGES[language]
}
