import { Store } from '@majlis/client'
import { MajlisProvider } from '@majlis/client/react'
import { Direction } from 'radix-ui'
import { createRoot } from 'react-dom/client'

import { App } from './App.tsx'
import { outboxStorage } from './features/composer/outboxStorage.ts'
import { reconnectOnWake } from './features/connection/reconnect.ts'
import { isRightToLeft, startLanguage, useLanguage } from './language/language.ts'
import './styles/app.css'
import { showSavedTheme } from './theme.ts'
import { ErrorBoundary } from './ui/ErrorBoundary.tsx'
import { useTimeZone } from './ui/timeZone.ts'
import { showSavedWide } from './wide.ts'

showSavedTheme()
showSavedWide()
const store = new Store({ outboxStorage, presence: true })
reconnectOnWake(store)
const root = createRoot(document.getElementById('root')!)
void startLanguage().then(() => root.render(<Root />))

/** Another language or time zone remounts the app. Drafts and the address are kept outside of it. */
function Root() {
  const language = useLanguage()
  const timeZone = useTimeZone()
  return (
    <MajlisProvider store={store}>
      <Direction.Provider dir={isRightToLeft() ? 'rtl' : 'ltr'}>
        <ErrorBoundary key={`${language} ${timeZone ?? ''}`}>
          <App />
        </ErrorBoundary>
      </Direction.Provider>
    </MajlisProvider>
  )
}
