import type { TaskTexts, Texts } from '../texts.ts'

export const task: TaskTexts = {
  again: (label, attempt) => `${label}：上次执行中断，正在进行第 ${attempt} 次尝试`,
  failed: (label) => `${label}：分析失败`,
  accepted: (code) => `分析任务已加入队列：${code}`,
  reading: (typed, name, code) => `“${typed}”按${name}（${code}）分析`,
  duplicate: (code) => `股票 ${code} 正在分析中`,
  batch: (accepted, duplicates) => `已提交 ${accepted} 个任务，${duplicates} 个重复任务已跳过`,
  keyReused: '该 Idempotency-Key 已用于另一请求：重发时请保持内容不变，新的请求请换用新的键',
  stillRunning: (code) => `${code} 的同一请求仍在分析中，请稍后用同一键重试`,
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

export const flow: Texts['flow'] = {
  entry: '入口',
  data_source: '数据来源',
  analysis: '分析引擎',
  artifact: '产物',
  request: '请求',
  task_queue: '任务队列',
  pipeline: '分析流程',
  context_pack: '上下文组装',
  llm: '模型分析',
  history: '历史报告',
  notification: '通知',
}
