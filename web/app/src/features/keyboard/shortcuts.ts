/** Keys that work everywhere. Those without a modifier are quiet while somebody is writing. */
import { useEffect } from 'react'

import type { Over } from '../../App.tsx'
import { inspect } from '../../router.ts'

export const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl or ⌘ + K', 'Find a space or a message'],
  ['Enter', 'Send'],
  ['Shift + Enter', 'A new line'],
  ['@', 'Call somebody'],
  ['Esc', 'Close what is open, give up an answer'],
  ['Ctrl or ⌘ + I', 'Open or close the inspector'],
  ['?', 'This list'],
]

export function useShortcuts(setOver: (over: Over) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = event.ctrlKey || event.metaKey
      if (command && event.key.toLowerCase() === 'k') setOver('switcher')
      else if (command && event.key.toLowerCase() === 'i') inspect(location.search.includes('inspect=') ? null : { kind: 'runs' })
      else if (event.key === '?' && !isWriting(event.target)) setOver('keys')
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [setOver])
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)
