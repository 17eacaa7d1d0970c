import { useConnection, useMe, useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { looking } from './attention.ts'
import { renew } from './push.ts'

/** After a report, the server assumes for a minute that the person looks at the app. */
const WHILE_LOOKING_MS = 40_000
/** How often it is asked whether any browser of the person is subscribed. */
const WITHOUT_BROWSERS_MS = 600_000

/** Keeps this browser subscribed, and tells the server while the user looks at the app: pushes to their browsers wait. */
export function usePush(): void {
  const { client } = useStore()
  const me = useMe()?.id
  const live = useConnection() === 'live'
  useEffect(() => {
    if (me) renew(client, me).catch(() => {})
  }, [client, me])
  useEffect(() => {
    if (!me || !live) return
    let next = 0
    const tell = () => {
      if (!looking() || Date.now() < next) return
      next = Date.now() + WHILE_LOOKING_MS
      client.push.setActive(true).then(({ browsers }) => {
        if (browsers === 0) next = Date.now() + WITHOUT_BROWSERS_MS
      }, () => {})
    }
    tell()
    const timer = setInterval(tell, WHILE_LOOKING_MS + 100)
    addEventListener('focus', tell)
    document.addEventListener('visibilitychange', tell)
    return () => {
      clearInterval(timer)
      removeEventListener('focus', tell)
      document.removeEventListener('visibilitychange', tell)
    }
  }, [client, me, live])
}
