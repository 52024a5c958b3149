import { changeLanguage, LANGUAGES, type Language, language, say } from '../texts.ts'

export const LanguageChoice = () => (
  <select
    class="language"
    aria-label={say('Language')}
    value={language}
    onChange={(event) => {
      const picked = event.currentTarget.value
      if (picked in LANGUAGES) changeLanguage(picked as Language)
    }}
  >
    {Object.entries(LANGUAGES).map(([code, name]) => (
      <option key={code} value={code} lang={code}>
        {name}
      </option>
    ))}
  </select>
)
