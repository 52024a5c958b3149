// The Chinese wording of what surrounds every page.

export const ZH_FRAME = {
  'An analysis is done': '一项分析已完成',
  'Analyse {name}': '分析 {name}',
  'Begin a new line': '换行',
  'Bring back what you said before': '找回之前说过的话',
  Commands: '命令',
  'Go to a page, a conversation or a stock': '前往页面、会话或股票',
  Keys: '快捷键',
  'Open this list': '打开此列表',
  'Run or reject the action that waits': '执行或拒绝等待中的操作',
  'Send the message': '发送消息',
  'Show the keys': '显示快捷键',
  'The agent is done': '智能体已完成',
  'The service answers again in {seconds} s.': '{seconds} 秒后恢复响应。',
  'Too many requests.': '请求过多。',
  'Turn off notifications of this browser': '关闭此浏览器的通知',
  'Turn on notifications of this browser': '开启此浏览器的通知',
  'You are offline. What is shown may be old.': '当前离线，显示的内容可能已过时。',
} as const
