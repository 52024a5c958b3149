// Texts for the analysis page, in the caller's language. The page replaces texts that contain words such as
// "reasoning", "tool call", "timeout", "proxy" or "503" by its own, so these words must not be used here.

import type { CallerLanguage } from '../../../http/caller-language.ts'

/** Why a purchase in a report is not a purchase under a profile. */
const SIGNAL_RULES = [
  'no_horizon',
  'no_way_out',
  'low_confidence',
  'poor_data',
  'contradictory_prices',
  'no_invalidation',
  'too_long',
] as const
export type SignalRule = (typeof SIGNAL_RULES)[number]

export type EmptyBacktest = 'no_matching_analysis' | 'no_new_results' | 'insufficient_daily_data'

export type PageTexts = {
  authDisabled: string
  passwordRequired: string
  wrongKey: string
  managedKeys: string
  localMode: string
  screeningOff: string
  noProcesses: string
  setup: {
    model: string
    modelWorks: string
    modelIncomplete: string
    modelWithout: string
    chooseModel: string
    agent: string
    agentInherits: string
    agentWithout: string
    stocks: string
    hasStocks: (count: number) => string
    noStocks: string
    addStocks: string
    notification: string
    hasChannels: (count: number) => string
    noChannels: string
    addChannel: string
    storage: string
    storageWorks: string
  }
  scheduler: { empty: string; busy: string }
  alerts: {
    noRule: string
    quiet: (until: string) => string
    coolingDown: string
    noChannel: string
    pending: string
  }
  signals: {
    missing: string
    isOver: string
    tooLarge: string
    byReports: string
    noReport: string
    noStock: string
    otherMarket: string
    isReview: string
    notStored: string
    rules: Record<SignalRule, string>
  }
  backtest: {
    none: string
    dates: string
    code: string
    goesOn: (left: number) => string
    empty: Record<EmptyBacktest, string>
  }
  config: {
    tooLarge: string
    outdated: string
    invalid: string
    nothingRead: string
    leftOut: (key: string) => string
    localMode: string
  }
  trial: {
    modelAnswers: string
    modelFails: string
    noKey: string
    can: string
    cannot: string
    notTried: string
    noList: string
    found: (count: number) => string
    sent: string
    noSmtp: string
    noChannel: string
    enterSecret: string
    incomplete: string
  }
}

export const PAGE_TEXTS: Readonly<Record<CallerLanguage, PageTexts>> = {
  zh: {
    authDisabled: '本机模式无需登录',
    passwordRequired: '请在密码框中输入访问密钥',
    wrongKey: '访问密钥无效',
    managedKeys: '这里没有密码，只有访问密钥：请在控制台“设置 → API 密钥”中创建或撤销',
    localMode: '本机模式不使用密钥：以 AUTH_MODE=keys 启动服务后，即可用访问密钥登录',
    screeningOff: '选股功能尚未启用',
    noProcesses: '这里不运行本地命令行后端：请使用通过网络访问的模型',
    setup: {
      model: '主模型',
      modelWorks: '模型已配置',
      modelIncomplete: '已指定模型，但缺少密钥或地址',
      modelWithout: '未配置模型：报告仍然完整，只是没有模型的评述',
      chooseModel: '在控制台“设置 → 模型”中选择模型并保存密钥',
      agent: '对话模型',
      agentInherits: '沿用主模型',
      agentWithout: '没有模型时无法就报告提问',
      stocks: '自选股',
      hasStocks: (count) => `自选列表中有 ${count} 只股票`,
      noStocks: '自选列表为空',
      addStocks: '添加至少一只股票',
      notification: '通知',
      hasChannels: (count) => `已启用 ${count} 个通知渠道`,
      noChannels: '未配置通知渠道：报告只在页面上显示',
      addChannel: '需要推送时，请添加一个通知渠道',
      storage: '存储',
      storageWorks: '存储可用',
    },
    scheduler: { empty: '自选列表为空，没有可分析的股票', busy: '自选列表中的股票都已在分析中' },
    alerts: {
      noRule: '没有此规则',
      quiet: (until) => `免打扰时段内，${until} 之后发送`,
      coolingDown: '冷却期内，不发送消息',
      noChannel: '没有启用的通知渠道',
      pending: '等待发送',
    },
    signals: {
      missing: '没有此信号',
      isOver: '已结束的信号不能重新变为有效',
      tooLarge: 'metadata 最多 8 KB',
      byReports: '来源为 analysis 或 market_review 的信号由报告自动生成，不能手动添加',
      noReport: '没有此报告',
      noStock: '无法识别这只股票，请填写完整代码',
      otherMarket: '市场与股票代码不一致',
      isReview: '大盘复盘不是对个股的建议',
      notStored: '这里只预览，不保存：persist 必须为 false',
      rules: {
        no_horizon: '没有持有期限，不作为买入',
        no_way_out: '既没有止损也没有失效条件，不作为买入',
        low_confidence: '置信度低于 0.5 或未知，不作为买入',
        poor_data: '数据质量差或未知，不作为买入',
        contradictory_prices: '价位相互矛盾，请先核对',
        no_invalidation: '进取型需要失效条件',
        too_long: '进取型不适用于长期',
      },
    },
    backtest: {
      none: '还没有可评估的报告',
      dates: '开始日期晚于结束日期，或日期格式不正确',
      code: '无法识别这个代码',
      goesOn: (left) => `还有 ${left} 只股票的日线在后台更新，请稍后再看`,
      empty: {
        no_matching_analysis: '没有符合条件的报告',
        no_new_results: '没有新的结果：能评估的报告都已评估',
        insufficient_daily_data: '还没有足够的日线数据',
      },
    },
    config: {
      tooLarge: '一次更改最多 256 KB',
      outdated: '配置已在别处更改，请刷新后重试',
      invalid: '配置未保存',
      nothingRead: '文件中没有可识别的 KEY=value 行',
      leftOut: (key) => `${key} 在此不存在，已忽略`,
      localMode: '本机模式下状态目录就是备份：复制该目录即可',
    },
    trial: {
      modelAnswers: '模型已应答',
      modelFails: '模型没有应答',
      noKey: '请输入密钥：已保存的密钥只用于已保存的服务商和地址',
      can: '具备',
      cannot: '不具备',
      notTried: '未测试',
      noList: '该服务商不提供模型列表',
      found: (count) => `找到 ${count} 个模型`,
      sent: '已发送',
      noSmtp: '通过 SMTP 发送邮件不可用：请改用 Resend、SendGrid 或 Mailgun 渠道',
      noChannel: '此渠道在这里不可用',
      enterSecret: '请重新输入令牌：已保存的令牌只用于已保存的地址',
      incomplete: '该渠道的设置不完整',
    },
  },
  en: {
    authDisabled: 'Local mode needs no sign-in',
    passwordRequired: 'Enter an access key as the password',
    wrongKey: 'This is no valid access key',
    managedKeys:
      'There is no password here, only access keys: make and revoke them in the console, Settings → API keys',
    localMode: 'Local mode uses no keys: start the service with AUTH_MODE=keys to sign in with access keys',
    screeningOff: 'Screening is not switched on',
    noProcesses: 'No backend that runs a command is possible here: use a model that is asked over the network',
    setup: {
      model: 'Main model',
      modelWorks: 'A model is set up',
      modelIncomplete: 'A model is named, but its key or its address is missing',
      modelWithout: 'No model is set: reports are whole, only without its comment',
      chooseModel: 'Choose a model and save its key in the console, Settings → Model',
      agent: 'Model for questions',
      agentInherits: 'The main model serves',
      agentWithout: 'Without a model no question about a report can be answered',
      stocks: 'Watchlist',
      hasStocks: (count) => (count === 1 ? 'The watchlist has one stock' : `The watchlist has ${count} stocks`),
      noStocks: 'The watchlist is empty',
      addStocks: 'Add at least one stock',
      notification: 'Notifications',
      hasChannels: (count) => (count === 1 ? 'One channel is on' : `${count} channels are on`),
      noChannels: 'No channel is set up: reports are shown on the page alone',
      addChannel: 'Add a channel to have reports sent to you',
      storage: 'Storage',
      storageWorks: 'The storage works',
    },
    scheduler: {
      empty: 'The watchlist is empty: there is nothing to analyse',
      busy: 'Every stock of the watchlist is being analysed already',
    },
    alerts: {
      noRule: 'No such rule',
      quiet: (until) => `Quiet hours: it is sent after ${until}`,
      coolingDown: 'It is cooling down: no message is sent',
      noChannel: 'No channel is switched on',
      pending: 'It waits to be sent',
    },
    signals: {
      missing: 'No such signal',
      isOver: 'A signal that is over does not become active again',
      tooLarge: 'metadata takes at most 8 KB',
      byReports: 'Signals of the sources analysis and market_review are made by reports and cannot be entered',
      noReport: 'No such report',
      noStock: 'This is no stock that is known here: enter its whole code',
      otherMarket: 'The stock does not trade in this market',
      isReview: 'A market review is no advice on a stock',
      notStored: 'This is a preview and stores nothing: persist has to be false',
      rules: {
        no_horizon: 'Without a horizon it is no purchase',
        no_way_out: 'With neither a stop nor a condition that ends it, it is no purchase',
        low_confidence: 'Its confidence is below 0.5 or unknown: it is no purchase',
        poor_data: 'Its data are poor or their quality is unknown: it is no purchase',
        contradictory_prices: 'Its prices contradict each other: look at them first',
        no_invalidation: 'The bold profile needs a condition that ends it',
        too_long: 'The bold profile is not for the long term',
      },
    },
    backtest: {
      none: 'There is no report yet that could be measured',
      dates: 'The first day is behind the last one, or one of them is no date',
      code: 'This is no code of a listing',
      goesOn: (left) => `Daily bars of ${left} more stocks are being fetched: look again in a moment`,
      empty: {
        no_matching_analysis: 'No report matches',
        no_new_results: 'Nothing new: what can be measured had been measured before',
        insufficient_daily_data: 'There are not enough daily bars yet',
      },
    },
    config: {
      tooLarge: 'A change takes at most 256 KB',
      outdated: 'The configuration was changed elsewhere: reload it and try again',
      invalid: 'Nothing was stored',
      nothingRead: 'The file has no line KEY=value that is known here',
      leftOut: (key) => `${key} does not exist here and was left out`,
      localMode: 'In local mode the state folder is the backup: copy it',
    },
    trial: {
      modelAnswers: 'The model answers',
      modelFails: 'The model does not answer',
      noKey: 'Enter the key: a stored one is used for its stored provider and address alone',
      can: 'It can',
      cannot: 'It cannot',
      notTried: 'Not tried',
      noList: 'This provider does not list its models',
      found: (count) => (count === 1 ? 'One model found' : `${count} models found`),
      sent: 'Sent',
      noSmtp: 'Mail by SMTP is not possible here: use a channel of Resend, SendGrid or Mailgun',
      noChannel: 'This kind of channel does not exist here',
      enterSecret: 'Enter the token: a stored one is used for its stored address alone',
      incomplete: 'The settings of the channel are not complete',
    },
  },
  ko: {
    authDisabled: '로컬 모드에서는 로그인이 필요하지 않습니다',
    passwordRequired: '비밀번호 칸에 액세스 키를 입력하세요',
    wrongKey: '유효한 액세스 키가 아닙니다',
    managedKeys: '비밀번호는 없고 액세스 키만 있습니다. 콘솔의 “설정 → API 키”에서 만들고 폐기하세요',
    localMode: '로컬 모드는 키를 쓰지 않습니다. AUTH_MODE=keys로 시작하면 액세스 키로 로그인할 수 있습니다',
    screeningOff: '종목 스크리닝이 켜져 있지 않습니다',
    noProcesses: '로컬 명령 백엔드는 쓸 수 없습니다. 네트워크로 묻는 모델을 사용하세요',
    setup: {
      model: '기본 모델',
      modelWorks: '모델이 설정되어 있습니다',
      modelIncomplete: '모델은 지정되었지만 키나 주소가 없습니다',
      modelWithout: '모델이 없습니다. 보고서는 온전하며 모델의 논평만 없습니다',
      chooseModel: '콘솔의 “설정 → 모델”에서 모델을 고르고 키를 저장하세요',
      agent: '질문용 모델',
      agentInherits: '기본 모델을 사용합니다',
      agentWithout: '모델이 없으면 보고서에 대한 질문에 답할 수 없습니다',
      stocks: '관심 목록',
      hasStocks: (count) => `관심 목록에 종목 ${count}개가 있습니다`,
      noStocks: '관심 목록이 비어 있습니다',
      addStocks: '종목을 하나 이상 추가하세요',
      notification: '알림',
      hasChannels: (count) => `채널 ${count}개가 켜져 있습니다`,
      noChannels: '알림 채널이 없습니다. 보고서는 화면에만 표시됩니다',
      addChannel: '보고서를 받으려면 채널을 추가하세요',
      storage: '저장소',
      storageWorks: '저장소가 작동합니다',
    },
    scheduler: {
      empty: '관심 목록이 비어 있어 분석할 종목이 없습니다',
      busy: '관심 목록의 모든 종목이 이미 분석 중입니다',
    },
    alerts: {
      noRule: '이 규칙이 없습니다',
      quiet: (until) => `방해 금지 시간: ${until} 이후에 보냅니다`,
      coolingDown: '재알림 대기 중이라 보내지 않습니다',
      noChannel: '켜진 알림 채널이 없습니다',
      pending: '보내기를 기다립니다',
    },
    signals: {
      missing: '이 신호가 없습니다',
      isOver: '끝난 신호는 다시 활성화할 수 없습니다',
      tooLarge: 'metadata는 최대 8 KB입니다',
      byReports: 'analysis와 market_review 신호는 보고서가 만들며 직접 입력할 수 없습니다',
      noReport: '이 보고서가 없습니다',
      noStock: '알 수 없는 종목입니다. 전체 코드를 입력하세요',
      otherMarket: '종목이 이 시장에서 거래되지 않습니다',
      isReview: '시장 리뷰는 종목에 대한 조언이 아닙니다',
      notStored: '미리보기이며 저장하지 않습니다. persist는 false여야 합니다',
      rules: {
        no_horizon: '보유 기간이 없어 매수로 보지 않습니다',
        no_way_out: '손절가도 무효화 조건도 없어 매수로 보지 않습니다',
        low_confidence: '신뢰도가 0.5 미만이거나 알 수 없어 매수로 보지 않습니다',
        poor_data: '데이터 품질이 나쁘거나 알 수 없어 매수로 보지 않습니다',
        contradictory_prices: '가격들이 서로 맞지 않습니다. 먼저 확인하세요',
        no_invalidation: '공격형에는 무효화 조건이 필요합니다',
        too_long: '공격형은 장기에 쓰지 않습니다',
      },
    },
    backtest: {
      none: '평가할 수 있는 보고서가 아직 없습니다',
      dates: '시작일이 종료일보다 늦거나 날짜 형식이 아닙니다',
      code: '종목 코드가 아닙니다',
      goesOn: (left) => `종목 ${left}개의 일봉을 더 가져오는 중입니다. 잠시 후 다시 보세요`,
      empty: {
        no_matching_analysis: '조건에 맞는 보고서가 없습니다',
        no_new_results: '새 결과가 없습니다. 평가할 수 있는 보고서는 이미 평가했습니다',
        insufficient_daily_data: '아직 일봉이 충분하지 않습니다',
      },
    },
    config: {
      tooLarge: '한 번에 최대 256 KB까지 변경할 수 있습니다',
      outdated: '설정이 다른 곳에서 변경되었습니다. 새로 고친 뒤 다시 시도하세요',
      invalid: '저장되지 않았습니다',
      nothingRead: '파일에 알려진 KEY=value 줄이 없습니다',
      leftOut: (key) => `${key}는 여기에 없는 항목이라 제외했습니다`,
      localMode: '로컬 모드에서는 상태 폴더가 백업입니다. 폴더를 복사하세요',
    },
    trial: {
      modelAnswers: '모델이 응답합니다',
      modelFails: '모델이 응답하지 않습니다',
      noKey: '키를 입력하세요. 저장된 키는 저장된 제공자와 주소에만 쓰입니다',
      can: '가능합니다',
      cannot: '불가능합니다',
      notTried: '시험하지 않았습니다',
      noList: '이 제공자는 모델 목록을 제공하지 않습니다',
      found: (count) => `모델 ${count}개를 찾았습니다`,
      sent: '보냈습니다',
      noSmtp: 'SMTP 메일은 사용할 수 없습니다. Resend, SendGrid, Mailgun 채널을 사용하세요',
      noChannel: '이 종류의 채널은 여기에 없습니다',
      enterSecret: '토큰을 입력하세요. 저장된 토큰은 저장된 주소에만 쓰입니다',
      incomplete: '채널 설정이 완전하지 않습니다',
    },
  },
}

export const pageTexts = (language: CallerLanguage): PageTexts => PAGE_TEXTS[language]
