// Why a tested model did not answer, in the caller's language. The English texts are those of the service, which
// contain the provider's words.

import type { CallerLanguage } from '../../../http/caller-language.ts'
import type { Trial } from '../../model-trial.ts'

type Failure = NonNullable<Trial['failure']>

const SENTENCES: Readonly<Record<Exclude<CallerLanguage, 'en'>, Readonly<Record<Failure, string>>>> = {
  zh: {
    authentication: '服务商不接受此密钥',
    out_of_credits: '服务商账户余额不足',
    rate_limit: '服务商限制了请求频率，请稍后再试',
    context_too_long: '内容超出模型的上下文长度',
    content_policy: '服务商拒绝了此请求',
    unavailable: '服务商暂时不可用',
    internal: '服务商内部出错',
    timeout: '服务商未及时应答',
    broken_stream: '服务商的应答中断',
    unusable_reply: '模型的应答无法使用',
    bad_request: '服务商不接受此请求：请检查模型名称',
    no_model: '尚未填写模型',
    'needs-key': '该模型需要密钥',
    'needs-address': '该模型需要地址',
    address_refused: '不允许访问此地址',
    budget_spent: '模型预算已用完',
    budget_held: '剩余的模型预算已为进行中的调用预留，请稍后再试',
  },
  ko: {
    authentication: '제공자가 키를 받아들이지 않습니다',
    out_of_credits: '제공자 계정의 잔액이 없습니다',
    rate_limit: '제공자에 대한 요청이 너무 잦습니다. 나중에 다시 시도하세요',
    context_too_long: '글이 모델의 한도보다 깁니다',
    content_policy: '제공자가 요청을 거절했습니다',
    unavailable: '제공자를 지금 사용할 수 없습니다',
    internal: '제공자에 오류가 났습니다',
    timeout: '제공자가 제때 응답하지 않았습니다',
    broken_stream: '제공자의 응답이 끊겼습니다',
    unusable_reply: '모델의 응답을 사용할 수 없습니다',
    bad_request: '제공자가 요청을 받아들이지 않습니다. 모델 이름을 확인하세요',
    no_model: '모델을 적지 않았습니다',
    'needs-key': '이 모델에는 키가 필요합니다',
    'needs-address': '이 모델에는 주소가 필요합니다',
    address_refused: '이 주소에는 요청할 수 없습니다',
    budget_spent: '모델 예산을 모두 사용했습니다',
    budget_held: '남은 모델 예산이 진행 중인 호출에 예약되어 있습니다. 나중에 다시 시도하세요',
  },
}

export function failureSentence({ failure, error }: Pick<Trial, 'failure' | 'error'>, language: CallerLanguage) {
  return failure === null || language === 'en' ? error : SENTENCES[language][failure]
}
