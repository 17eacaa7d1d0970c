import { useConnection } from '@majlis/client/react'
import { useEffect, useState } from 'react'

const AFTER_MS = 5000

/** Only after a while: a short break heals before anybody notices. */
export function OfflineBanner() {
  const lost = useConnection() === 'lost'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!lost) return setShown(false)
    const timer = setTimeout(() => setShown(true), AFTER_MS)
    return () => clearTimeout(timer)
  }, [lost])
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-2 z-30 grid place-items-center">
      {shown && (
        <p className="animate-rise rounded-full border border-line bg-paper-high px-4 py-1.5 text-small shadow-high">
          Not connected. Trying again… What you write stays here.
        </p>
      )}
    </div>
  )
}
