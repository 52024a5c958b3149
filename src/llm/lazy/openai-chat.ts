// The SDK's chat dialect, for what it makes of a prompt. Loaded on first use.
export { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible'
