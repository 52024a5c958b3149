// The charts of reports and reviews are drawn and stored for a light page. For a dark page their colours are replaced.

const DARK: Readonly<Record<string, string>> = {
  // Ground, lines and words.
  '#ffffff': '#191f21',
  '#e2e8f0': '#2c3637',
  '#e5e7eb': '#2c3637',
  '#111827': '#e2e9e8',
  '#1a202c': '#e2e9e8',
  '#374151': '#e2e9e8',
  '#718096': '#97a6a7',
  '#744210': '#f0c060',
  // Averages and levels.
  '#2b6cb0': '#7fb2f0',
  '#805ad5': '#cf96e6',
  '#b7791f': '#f0a94b',
  '#c53030': '#ff8d83',
  '#2f855a': '#6fcf8b',
  // The indices of a review.
  '#2563eb': '#7fb2f0',
  '#d97706': '#f0a94b',
  '#059669': '#6fcf8b',
  '#7c3aed': '#cf96e6',
}

/** No text can look like a colour, because quotation marks in text are entities. */
export const inDark = (svg: string): string =>
  svg.replace(/(?<=\b(?:fill|stroke)=")#[0-9a-f]{6}(?=")/g, (colour) => DARK[colour] ?? colour)
