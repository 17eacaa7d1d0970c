import { useConnection } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { t } from '../../language/words.ts'

const DELAY_MS = 5000

/** Shown after a delay: short interruptions end before they matter. */
export function OfflineBanner() {
  const lost = useConnection() === 'lost'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!lost) return setShown(false)
    const timer = setTimeout(() => setShown(true), DELAY_MS)
    return () => clearTimeout(timer)
  }, [lost])
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-2 z-30 grid place-items-center">
      {shown && (
        <p className="animate-rise rounded-full border border-line bg-paper-high px-4 py-1.5 text-small shadow-high">
          {t('Connection lost. Reconnecting… Your messages are saved.')}
        </p>
      )}
    </div>
  )
}
