import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.penstock/**', 'docs/generated/**', 'apps/graphiql/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-control-regex': 'off',
    },
  },
  {
    // Doors and repositories never let exact numbers pass through a JavaScript double: use readJson/writeJson of the kernel.
    files: ['apps/server/**/*.ts', 'libs/**/*.repository.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'JSON', property: 'parse', message: 'Use readJson of #libs/kernel: numbers must stay exact.' },
        { object: 'JSON', property: 'stringify', message: 'Use writeJson of #libs/kernel: numbers must stay exact.' },
      ],
    },
  },
  {
    files: ['apps/server/pages/static/*.js'],
    languageOptions: {
      globals: { document: 'readonly', window: 'readonly', URLSearchParams: 'readonly', FormData: 'readonly' },
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { globals: { module: 'writable' } },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        setInterval: 'readonly',
        fetch: 'readonly',
        Buffer: 'readonly',
        performance: 'readonly',
        TextDecoderStream: 'readonly',
        AbortSignal: 'readonly',
        Headers: 'readonly',
      },
    },
  },
);
