/** Short confirmations, such as "Link copied", at the bottom of the page. */
import { useEffect, useSyncExternalStore } from 'react'

const SHOWN_MS = 2500
let shown: { text: string } | null = null
const listeners = new Set<() => void>()

export function toast(text: string): void {
  shown = { text }
  listeners.forEach((each) => each())
}

export function Toasts() {
  const current = useSyncExternalStore(subscribe, () => shown)
  useEffect(() => {
    if (!current) return
    const timer = setTimeout(() => {
      shown = null
      listeners.forEach((each) => each())
    }, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [current])
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-24 z-50 grid place-items-center">
      {current && <p className="animate-rise rounded-full bg-ink px-4 py-1.5 text-small text-paper shadow-high">{current.text}</p>}
    </div>
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
