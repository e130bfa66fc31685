/* See jn_file.h. */
#if defined(__unix__) || (defined(__APPLE__) && defined(__MACH__))
#define _POSIX_C_SOURCE 200809L
#define JN_POSIX 1
#endif

#include "jn_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(JN_POSIX)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int jn_file_open(const char *path, jn_file *file, char *why, size_t n) {
    struct stat about;
    void *at = MAP_FAILED;
    const int handle = open(path, O_RDONLY);
    if (handle >= 0 && !fstat(handle, &about) && about.st_size > 0)
        at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, handle, 0);
    if (at == MAP_FAILED) snprintf(why, n, "%s", handle >= 0 && !errno ? "it is empty" : strerror(errno));
    if (handle >= 0) close(handle);
    if (at == MAP_FAILED) return -1;
    file->bytes = (const unsigned char *)at;
    file->size = (size_t)about.st_size;
    file->mapped = 1;
    return 0;
}

void jn_file_close(jn_file *file) { munmap((void *)(size_t)file->bytes, file->size); }

#elif defined(_WIN32)
#include <windows.h>

int jn_file_open(const char *path, jn_file *file, char *why, size_t n) {
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = length > 0 ? (wchar_t *)malloc((size_t)length * sizeof *wide) : NULL;
    HANDLE handle = INVALID_HANDLE_VALUE, map = NULL;
    LARGE_INTEGER size;
    void *at = NULL;
    if (wide && MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length))
        handle = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (handle != INVALID_HANDLE_VALUE && GetFileSizeEx(handle, &size))
        map = CreateFileMappingW(handle, NULL, PAGE_READONLY, 0, 0, NULL);
    if (map) at = MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0);
    if (!at) snprintf(why, n, "it cannot be opened (Windows error %lu)", (unsigned long)GetLastError());
    if (map) CloseHandle(map);
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
    free(wide);
    if (!at) return -1;
    file->bytes = (const unsigned char *)at;
    file->size = (size_t)size.QuadPart;
    file->mapped = 1;
    return 0;
}

void jn_file_close(jn_file *file) { UnmapViewOfFile(file->bytes); }

#else
int jn_file_open(const char *path, jn_file *file, char *why, size_t n) {
    FILE *stream = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long size = -1;
    if (stream && !fseek(stream, 0, SEEK_END)) size = ftell(stream);
    if (size > 0) bytes = (unsigned char *)malloc((size_t)size);
    if (bytes) rewind(stream);
    if (!bytes || fread(bytes, 1, (size_t)size, stream) != (size_t)size) {
        snprintf(why, n, "it cannot be read");
        free(bytes);
        bytes = NULL;
    }
    if (stream) fclose(stream);
    if (!bytes) return -1;
    file->bytes = bytes;
    file->size = (size_t)size;
    file->mapped = 0;
    return 0;
}

void jn_file_close(jn_file *file) { free((void *)(size_t)file->bytes); }
#endif
