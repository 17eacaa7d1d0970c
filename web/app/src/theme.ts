import { msg } from './language/words.ts'
import { loadItem, saveItem } from './ui/storage.ts'

export type Theme = 'system' | 'light' | 'dark'
export const THEMES: Record<Theme, string> = { system: msg('System'), light: msg('Light'), dark: msg('Dark') }
const KEY = 'majlis.theme'

export const savedTheme = (): Theme => (loadItem(KEY) as Theme | null) ?? 'system'

export function showSavedTheme(): void {
  show(savedTheme())
}

export function chooseTheme(theme: Theme): void {
  saveItem(KEY, theme)
  show(theme)
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
