import type { TaskTexts, Texts } from '../texts.ts'

export const task: TaskTexts = {
  again: (label, attempt) => `${label}：이전 실행이 중단되어 ${attempt}번째로 시도합니다`,
  failed: (label) => `${label}：분석에 실패했습니다`,
  accepted: (code) => `분석 작업이 대기열에 추가되었습니다: ${code}`,
  reading: (typed, name, code) => `"${typed}"을(를) ${name}(${code})(으)로 읽었습니다`,
  duplicate: (code) => `${code} 종목은 이미 분석 중입니다`,
  batch: (accepted, duplicates) => `작업 ${accepted}건을 제출했고 중복 작업 ${duplicates}건은 건너뛰었습니다`,
  keyReused:
    '이 Idempotency-Key는 다른 요청에 사용되었습니다. 다시 보낼 때는 같은 본문을, 새 요청에는 새 키를 사용하세요',
  stillRunning: (code) => `${code}에 대한 같은 요청이 아직 분석 중입니다. 잠시 후 같은 키로 다시 보내세요`,
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

export const flow: Texts['flow'] = {
  entry: '입구',
  data_source: '데이터 출처',
  analysis: '분석 엔진',
  artifact: '산출물',
  request: '요청',
  task_queue: '작업 대기열',
  pipeline: '분석 과정',
  context_pack: '근거 구성',
  llm: '모델 분석',
  history: '저장된 보고서',
  notification: '알림',
}
