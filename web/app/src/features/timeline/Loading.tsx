import { useEffect, useState } from 'react'

import { t } from '../../language/words.ts'
import { useOffline } from '../connection/useOffline.ts'

const DELAY_MS = 400

/** Shown in place of messages that are not loaded yet. Without text at first, because loading is usually instant. */
export function Loading() {
  const offline = useOffline()
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  const text = offline ? t('You’re offline. The messages of this space will load when you’re back online.') : late ? t('Loading messages…') : ''
  return <p role="status" className="absolute inset-0 grid place-items-center p-6 text-center text-ink-soft">{text}</p>
}
