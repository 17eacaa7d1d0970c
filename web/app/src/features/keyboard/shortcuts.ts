import { useEffect } from 'react'

import type { Over } from '../../App.tsx'
import { inspect } from '../../router.ts'

export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

export const KEYS: readonly (readonly [string, string])[] = [
  [`${COMMAND_KEY} + K`, 'Search spaces and messages'],
  ['Enter', 'Send message'],
  ['Shift + Enter', 'New line'],
  ['@', 'Mention a member'],
  ['Esc', 'Close the open panel, or cancel a reply'],
  [`${COMMAND_KEY} + I`, 'Open or close the inspector'],
  ['?', 'Show keyboard shortcuts'],
]

/** Shortcuts that work everywhere. Those without a modifier key are ignored while the user types. */
export function useShortcuts(setOver: (over: Over) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = event.ctrlKey || event.metaKey
      if (command && event.key.toLowerCase() === 'k') setOver('switcher')
      else if (command && event.key.toLowerCase() === 'i') inspect(location.search.includes('inspect=') ? null : { kind: 'runs' })
      else if (event.key === '?' && !isTextField(event.target)) setOver('keys')
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [setOver])
}

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)
