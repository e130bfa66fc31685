/* Connections to "/path" and "host:port": part of jounce_client.c. They return -1 on failure, with the reason in errno. */
#ifndef JOUNCE_DIAL_H
#define JOUNCE_DIAL_H

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int dial_unix(const char *path) {
    struct sockaddr_un to;
    int fd;
    memset(&to, 0, sizeof to);
    to.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int at_least_one(double value) { return value < 1.0 ? 1 : value > 86400e3 ? 86400000 : (int)(value + 0.5); }

/* jounce_proto/keepalive.py, in C. */
static void keep_alive(int fd, double seconds) {
    int yes = 1, idle = at_least_one(seconds / 3.0), wait = at_least_one(seconds * 2.0 / 3.0);
    if (seconds <= 0.0) return;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
#ifdef TCP_KEEPIDLE
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
#endif
#ifdef TCP_KEEPINTVL
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &wait, sizeof wait);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &yes, sizeof yes);
#endif
#ifdef TCP_USER_TIMEOUT
    {
        int all = at_least_one(seconds * 1e3);
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &all, sizeof all);
    }
#endif
    (void)idle;
    (void)wait;
}

/* A machine that does not answer for `keepalive` [s] is gone; 0 waits for ever. */
static int dial_tcp(const char *address, double keepalive) {
    const char *colon = strrchr(address, ':');
    struct addrinfo hints, *found = NULL, *one;
    char host[256];
    size_t n = colon ? (size_t)(colon - address) : 0;
    int fd = -1, yes = 1;
    errno = EINVAL;
    if (!colon || n >= sizeof host) return -1;
    if (n > 1 && address[0] == '[' && address[n - 1] == ']') {
        address++;
        n -= 2;
    }
    memcpy(host, address, n);
    host[n] = 0;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, colon + 1, &hints, &found)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    for (one = found; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen)) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        /* A step must not wait for TCP's acknowledgement of the previous one. */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        keep_alive(fd, keepalive);
    }
    return fd;
}

#endif
