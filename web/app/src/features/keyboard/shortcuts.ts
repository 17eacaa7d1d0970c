import { useEffect } from 'react'

import type { Over } from '../../App.tsx'
import { msg } from '../../language/words.ts'
import { go, inspect, spacePath } from '../../router.ts'

export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

export const KEYS: readonly (readonly [string, string])[] = [
  [`${COMMAND_KEY} + K`, msg('Search spaces and messages')],
  ['Alt + ↑ / ↓', msg('Previous or next space')],
  ['J / K', msg('Next or previous message')],
  ['Page Up', msg('Scroll the messages, also while you type')],
  ['Enter', msg('Send message')],
  ['Shift + Enter', msg('New line')],
  ['@', msg('Mention a member')],
  ['/', msg('Choose a command, at the beginning of a message')],
  [':', msg('Find an emoji by its name')],
  ['↑', msg('Edit your last message, while the composer is empty')],
  ['Esc', msg('Close the open panel, or cancel a reply or an edit')],
  [`${COMMAND_KEY} + I`, msg('Open or close the inspector')],
  [`${COMMAND_KEY} + B`, msg('Show or hide the sidebar')],
  ['?', msg('Show keyboard shortcuts')],
]

interface Actions {
  setOver: (over: Over) => void
  toggleSidebar: () => void
}

/** Shortcuts that work everywhere. Those without a modifier key are ignored while the user types. */
export function useShortcuts({ setOver, toggleSidebar }: Actions): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      const typing = isTextField(event.target)
      if (command && key === 'k') setOver('switcher')
      else if (command && key === 'i') inspect(location.search.includes('inspect=') ? null : { kind: 'runs' })
      else if (command && key === 'b') toggleSidebar()
      else if (event.altKey && (key === 'arrowup' || key === 'arrowdown')) goToSpace(key === 'arrowdown' ? 1 : -1)
      else if (key === 'pageup' || key === 'pagedown') {
        if (!typing || !scrollMessages(key === 'pagedown' ? 1 : -1)) return
      } else if (command || event.altKey || typing) return
      else if (key === '?') setOver('keys')
      else if (key === 'j' || key === 'k') focusMessage(key === 'j' ? 1 : -1)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [setOver, toggleSidebar])
}

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)

/** The next space in the order of the sidebar, which is where the order is decided. */
function goToSpace(step: 1 | -1): void {
  const ids = [...document.querySelectorAll<HTMLElement>('[data-space]')].map((row) => row.dataset['space']!)
  const here = ids.findIndex((id) => location.pathname.startsWith(spacePath(id)))
  const next = here < 0 ? ids[step > 0 ? 0 : ids.length - 1] : ids[here + step]
  if (next) go(spacePath(next))
}

const messageBox = (): HTMLElement | null => document.querySelector('[data-messages]')

function scrollMessages(step: 1 | -1): boolean {
  const box = messageBox()
  box?.scrollBy({ top: step * box.clientHeight * 0.85 })
  return box !== null
}

/** Moves the focus from message to message, from the bottom of the screen on. */
function focusMessage(step: 1 | -1): void {
  const box = messageBox()
  const all = [...(box?.querySelectorAll<HTMLElement>('article') ?? [])].toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  const here = all.findIndex((each) => each.contains(document.activeElement))
  const bottom = box?.getBoundingClientRect().bottom ?? 0
  const next = here >= 0 ? all[here + step] : all.findLast((each) => each.getBoundingClientRect().bottom <= bottom + 1)
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
