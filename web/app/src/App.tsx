import { useConnection, useMe, useSpace, useSpaces } from '@majlis/client/react'
import { unread } from '@majlis/client'
import { lazy, useEffect, useState } from 'react'

import { OfflineBanner } from './features/connection/OfflineBanner.tsx'
import { SplashScreen } from './features/connection/SplashScreen.tsx'
import { useReloadOnUserChange } from './features/connection/useReloadOnUserChange.ts'
import { useShortcuts } from './features/keyboard/shortcuts.ts'
import { Sidebar } from './features/spaces/Sidebar.tsx'
import { SpacePage } from './features/spaces/SpacePage.tsx'
import { Welcome } from './features/spaces/Welcome.tsx'
import { go, spacePath, useInspect, usePlace, type Place } from './router.ts'
import { LazyPart } from './ui/LazyPart.tsx'

const Inspector = lazy(() => import('./features/inspector/Inspector.tsx'))
const Switcher = lazy(() => import('./features/switcher/Switcher.tsx'))
const KeyboardMap = lazy(() => import('./features/keyboard/KeyboardMap.tsx'))
const Admin = lazy(() => import('./features/admin/Admin.tsx'))

export type Over = 'switcher' | 'keys' | null

export function App() {
  const me = useMe()
  const connection = useConnection()
  const [over, setOver] = useState<Over>(null)
  useShortcuts(setOver)
  useReloadOnUserChange(me?.id)
  useEffect(() => {
    // The session has ended. The server answers this address with the sign-in page.
    if (connection === 'ended') location.reload()
  }, [connection])
  if (!me) return <SplashScreen />
  return (
    <>
      <OfflineBanner />
      <Layout onOver={setOver} />
      {over === 'switcher' && <LazyPart over><Switcher onClose={() => setOver(null)} /></LazyPart>}
      {over === 'keys' && <LazyPart over><KeyboardMap onClose={() => setOver(null)} /></LazyPart>}
    </>
  )
}

function Layout({ onOver }: { onOver: (over: Over) => void }) {
  const place = usePlace()
  const inspect = useInspect()
  useTitle(place)
  useOnlySpace()
  const inspecting = place.page === 'space' && inspect !== null
  // On a phone the home page shows only the list of spaces, so the list is the main landmark.
  const home = place.page === 'home'
  return (
    <div role={home ? 'main' : undefined} className="flex h-full">
      <Sidebar className={home ? 'flex' : 'hidden md:flex'} onOver={onOver} />
      <div role={home ? undefined : 'main'} className={`min-w-0 flex-1 flex-col ${home ? 'hidden md:flex' : 'flex'}`}>
        {!home && <h1 className="unseen md:hidden">Majlis</h1>}
        {home && <Welcome />}
        {place.page === 'space' && <SpacePage key={place.spaceId} spaceId={place.spaceId} messageId={place.messageId} />}
        {place.page === 'admin' && <LazyPart><Admin section={place.section} id={place.id} /></LazyPart>}
      </div>
      {inspecting && <LazyPart over><Inspector spaceId={place.spaceId} what={inspect} /></LazyPart>}
    </div>
  )
}

/** Opens the only space of a user who starts at `/`. Phones start with the list. */
function useOnlySpace(): void {
  const spaces = useSpaces()
  const [starting, setStarting] = useState(() => location.pathname === '/' && matchMedia('(width >= 48rem)').matches)
  const only = spaces.length === 1 ? spaces[0]!.facts.id : null
  useEffect(() => {
    if (starting && only) go(spacePath(only), 'replace')
    setStarting(false)
  }, [starting, only])
}

function useTitle(place: Place): void {
  const spaces = useSpaces()
  const space = useSpace(place.page === 'space' ? place.spaceId : '')
  const count = spaces.reduce((sum, each) => sum + unread(each), 0)
  const name = space ? `${space.facts.name} · Majlis` : 'Majlis'
  useEffect(() => {
    document.title = count > 0 ? `(${count}) ${name}` : name
  }, [name, count])
}
